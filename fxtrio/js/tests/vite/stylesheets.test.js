import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { build, createServer } from 'vite';

import { urlOf } from '../../vite/config.js';
import { builtPathsPlugin, developedPathsPlugins, relativePaths } from '../../vite/stylesheets.js';

const FILES = {
  'pages/page.css':
    '@import "/shared.css"; .a{background:url(./img.png?no-inline)}' +
    '.b{background:url(/icon.svg)} .c{background:url("/app/icon2.svg")}' +
    '.d{background:url(//cdn.com/e.png)} .e{background:url(/apple.png)}' +
    '.f{background:image-set("/f.png" 1x, url(/app/g.png) 2x)}',
  'pages/img.png': 'image',
  'shared.css': '.s{background:url(/s.png)}',
  'entry.js': 'import "./pages/page.css";',
};

/** @param {import('node:test').TestContext} context */
function project(context) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-styles-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(FILES)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  const cacheDir = path.join(root, 'cache');
  return { root, cacheDir, base: '/app/_fx/', configFile: /** @type {const} */ (false) };
}

/** @param {string} code */
function urlsIn(code) {
  return [...code.matchAll(/(?:url\(|image-set\(|,)\\?"?([./][^)"\\]*)/g)].map(([, url]) => url);
}

test('each path in a stylesheet of Vite in development has the base once', async (context) => {
  const server = await createServer({
    ...project(context),
    ...{ appType: 'custom', publicDir: false, logLevel: 'silent' },
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
    plugins: developedPathsPlugins('/app'),
  });
  context.after(() => server.close());
  const done = await server.transformRequest('/pages/page.css');
  assert.deepEqual(urlsIn(done?.code ?? ''), [
    '/app/s.png',
    '/app/_fx/pages/img.png?no-inline',
    ...['/app/icon.svg', '/app/icon2.svg', '//cdn.com/e.png', '/app/apple.png'],
    ...['/app/f.png', '/app/g.png'],
  ]);
});

test('a stylesheet of a build names each path from its own place', async (context) => {
  const { output } = /** @type {import('vite').Rolldown.RolldownOutput} */ (
    await build({
      ...project(context),
      ...{ publicDir: false, logLevel: 'silent', experimental: { renderBuiltUrl: urlOf } },
      build: { write: false, rollupOptions: { input: 'entry.js' }, assetsDir: '' },
      plugins: [builtPathsPlugin('/app')],
    })
  );
  const css = output.find(({ fileName }) => fileName.endsWith('.css'));
  const urls = urlsIn(css?.type === 'asset' ? String(css.source) : '');
  assert.deepEqual(
    urls.map((url) => url.replace(/-[\w-]{8}\.png/, '.png')),
    [
      ...['../s.png', './img.png', '../icon.svg', '../icon2.svg', '//cdn.com/e.png'],
      ...['../apple.png', '../f.png', '../g.png', '../f.png', '../g.png'],
    ],
  );
});

test('stylesheets load paths of the app from where they are', () => {
  const css =
    'a{background:url(/a.png)}b{background:url( "/b.png" )}/* url(/c) */i{content:"url(/d)"}' +
    'u{background:url(//e)}s{background:url(f.png)}' +
    'p{background:image-set(linear-gradient(rgb(0 0 0),red) 1x,"/g.png" type("image/png"))}' +
    'q{content:"/h" attr(x,"/i")}';
  const moved = css.replace('(/a', '(../a').replace('"/b', '"../b').replace('"/g', '"../g');
  assert.equal(relativePaths(css, ''), moved);
  assert.equal(relativePaths(css, '/app'), moved);
  assert.equal(
    relativePaths('a{background:url(/app/a.png),url(/app),url(/apple)}', '/app'),
    'a{background:url(../a.png),url(../),url(../apple)}',
  );
});
