import assert from 'node:assert/strict';
import test from 'node:test';

import { clientOf, collectAssets, loadingDepth } from '../../vite/assets.js';

/** @type {import('../../vite/plan.js').ViewPlan} */
const VIEW = {
  id: 0,
  kind: 'page',
  module: 'pages/blog/[id].fxl',
  layouts: [
    ['pages/layout.fxl', false],
    ['pages/blog/template.fxl', true],
  ],
  loading: null,
  boundaries: [1, 2, 3],
  scripts: 'auto',
};

/** @type {import('../../vite/plan.js').Plan} */
const PLAN = {
  root: '/p',
  staging: '/p/.fx/build',
  base: '/_fx/',
  mode: 'production',
  modules: [
    'pages/blog/[id].fxl',
    'pages/layout.fxl',
    'pages/blog/template.fxl',
    'pages/error.fxl',
  ],
  views: [
    VIEW,
    { ...VIEW, id: 1, kind: 'error', module: 'pages/error.fxl', layouts: [VIEW.layouts[0]] },
    { ...VIEW, id: 2, kind: 'error', module: 'pages/error.fxl', layouts: [] },
    { ...VIEW, id: 3, kind: 'error', layouts: [['pages/other/layout.fxl', false]] },
  ],
  toolchain: '/t',
  python: '',
  seed: '',
};

/**
 * @param {string} fileName
 * @param {string | null} id
 * @param {string[]} imports
 * @param {string[]} css
 * @returns {import('../../vite/assets.js').Chunk}
 */
function chunk(fileName, id, imports = [], css = []) {
  const viteMetadata = { importedCss: new Set(css) };
  const moduleIds = id === null ? [] : [id];
  return { type: 'chunk', fileName, facadeModuleId: id, moduleIds, imports, viteMetadata };
}

const START = '\0virtual:fx/client';

const OUTPUT = [
  { ...chunk('client.js', START, ['runtime.js']), moduleIds: [] },
  { ...chunk('runtime.js', null), moduleIds: [START] },
  chunk('id.js', '/p/pages/blog/[id].fxl', ['runtime.js', 'shared.js'], ['id.css']),
  chunk('shared.js', null, ['runtime.js', 'deep.js'], ['shared.css']),
  chunk('deep.js', null, ['shared.js'], ['deep.css']),
  chunk('layout.js', '/p/pages/layout.fxl', ['runtime.js'], ['layout.css']),
  chunk('template.js', '/p/pages/blog/template.fxl', ['runtime.js', 'shared.js'], ['shared.css']),
  chunk('error.js', '/p/pages/error.fxl', ['runtime.js'], ['error.css']),
  { type: /** @type {const} */ ('asset') },
];

test('an entry needs what it imports, at any depth; stylesheets of imports come first', () => {
  const { files, entry } = collectAssets(PLAN, OUTPUT);
  assert.deepEqual(files['pages/blog/[id].fxl'], {
    module: '/_fx/id.js',
    css: ['/_fx/deep.css', '/_fx/shared.css', '/_fx/id.css'],
    preload: ['/_fx/runtime.js', '/_fx/shared.js', '/_fx/deep.js'],
  });
  // What only imports the chunk that pages start with would be one more request.
  assert.deepEqual(entry, { module: '/_fx/runtime.js', css: [], preload: [] });
});

test('a view lists each file once: layouts’ styles first, no module that is loaded anyway', () => {
  const client = clientOf(VIEW, PLAN, collectAssets(PLAN, OUTPUT), 'b1');
  assert.deepEqual(client, {
    build: 'b1',
    module: '/_fx/id.js',
    layouts: [{ module: '/_fx/layout.js' }, { module: '/_fx/template.js', template: true }],
    css: ['/_fx/layout.css', '/_fx/deep.css', '/_fx/shared.css', '/_fx/id.css'],
    preload: ['/_fx/shared.js', '/_fx/deep.js'],
    boundaries: [
      { module: '/_fx/error.js', depth: 1, css: ['/_fx/error.css'] },
      { module: '/_fx/error.js', depth: 0, css: ['/_fx/error.css'] },
    ],
  });
});

test('an error page does not stand in for itself', () => {
  const client = clientOf(
    { ...PLAN.views[1], boundaries: [1] },
    PLAN,
    collectAssets(PLAN, OUTPUT),
    'b1',
  );
  assert.equal(client.boundaries, undefined);
});

test('the loading fallback is inside of the layouts of its folder and those above', () => {
  const depth = (/** @type {string} */ loading, /** @type {string[]} */ ...layouts) =>
    loadingDepth({ ...VIEW, loading, layouts: layouts.map((source) => [source, false]) });
  const layouts = ['pages/layout.fxl', 'pages/a/layout.fxl', 'pages/a/b/layout.fxl'];
  assert.equal(depth('pages/loading.fxl', ...layouts), 1);
  assert.equal(depth('pages/a/loading.fxl', ...layouts), 2);
  assert.equal(depth('pages/a/b/c/loading.fxl', ...layouts), 3);
  assert.equal(depth('pages/loading.fxl'), 0);
  assert.equal(depth('pages/a/loading.fxl', 'pages/ab/layout.fxl'), 0);
});
