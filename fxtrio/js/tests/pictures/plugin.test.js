import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { pictureMistakes } from '../../pictures/check.js';
import { Pictures } from '../../pictures/plugin.js';

const CANDIDATES = [
  { name: 'lake-320.avif', type: 'image/avif', width: 320 },
  { name: 'lake-800.avif', type: 'image/avif', width: 800 },
  { name: 'lake-800.webp', type: 'image/webp', width: 800 },
];

/** What stands for the Python that makes pictures: a file of a name is a picture, or is not. */
const PYTHON = `#!${process.execPath}
const { createInterface } = require('node:readline');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, file, most, make } = JSON.parse(line);
  if (file.includes('crash')) process.exit(3);
  const picture = {
    key: 'abc', width: most ?? 800, height: 400, placeholder: 'data:x',
    candidates: ${JSON.stringify(CANDIDATES)},
  };
  const problem = { message: 'it is damaged', remedy: 'Save it again' };
  const folder = process.argv.at(-1);
  for (const name of make === 'all' ? [] : make) require('node:fs').writeFileSync(folder + '/' + name, name);
  console.log(JSON.stringify(file.includes('bad') ? { id, problem } : { id, picture, folder }));
});
`;

/** @param {import('node:test').TestContext} context */
function project(context) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-pictures-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  const python = path.join(root, 'python');
  fs.writeFileSync(python, PYTHON, { mode: 0o755 });
  return { root, python, base: '/_fx/' };
}

/**
 * @param {import('node:test').TestContext} context
 * @param {boolean} building
 */
function opened(context, building) {
  const settings = project(context);
  const pictures = new Pictures(settings);
  context.after(() => pictures.close());
  const { load, resolveId } = /** @type {any} */ (pictures.plugin(building));
  const self = {
    addWatchFile: () => {},
    resolve: async (/** @type {string} */ id) => ({ id: `/shop/${id.slice(2)}` }),
  };
  return {
    ...{ pictures, root: settings.root },
    load: (/** @type {string} */ id) => load.handler.call(self, id),
    resolve: (/** @type {string} */ id) =>
      resolveId.handler.call(self, id, '/shop/pages/a.fxl', {}),
  };
}

/** @param {string} code of a module without imports */
async function valueOf(code) {
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
}

test('a build imports each file, whose name the bundler gives', async (context) => {
  const { load, root } = opened(context, true);
  const { code } = await load('/shop/lake.jpg?picture');

  const [first, , third] = code.split('\n');
  assert.equal(first, `import file0 from "${root}/lake-320.avif?url&no-inline";`);
  assert.match(third, /lake-800\.webp/);
  const named = code
    .replaceAll(/^import .*$/gm, '')
    .replaceAll(/\$\{file(\d)\}/g, 'u$1')
    .replaceAll(/file(\d)/g, '"u$1"');
  assert.deepEqual(await valueOf(named), {
    ...{ src: 'u2', width: 800, height: 400, placeholder: 'data:x' },
    sources: [{ type: 'image/avif', srcSet: 'u0 320w, u1 800w' }],
  });
});

test('in development a file is made when it is loaded, and no other is served', async (context) => {
  const { load, pictures, root } = opened(context, false);
  const { code } = await load('/shop/lake.jpg?width=400&picture');
  const value = await valueOf(
    code.replaceAll(/\$\{("[^"]*")\}/g, (/** @type {string} */ _all, /** @type {string} */ url) =>
      JSON.parse(url),
    ),
  );
  assert.equal(value.width, 400);
  assert.equal(value.src, '/_fx/@pictures/abc/lake-800.webp');
  assert.ok(!fs.existsSync(`${root}/lake-800.webp`));

  const sent = /** @type {Record<string, unknown>} */ ({});
  const response = /** @type {any} */ ({
    setHeader: (/** @type {string} */ name, /** @type {string} */ text) => (sent[name] = text),
    end: (/** @type {Buffer} */ body) => (sent.body = String(body)),
  });
  assert.ok(await pictures.respond(value.src, response));
  assert.deepEqual(sent, {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    body: 'lake-800.webp',
  });
  for (const other of ['abc/python', 'abc/../python', 'abd/lake-800.webp', 'abc', '']) {
    assert.ok(!(await pictures.respond(`/_fx/@pictures/${other}`, response)), other);
  }
});

test('what cannot be made is wrong where it is imported', async (context) => {
  const { resolve } = opened(context, true);
  await assert.rejects(resolve('./bad.jpg?picture'), {
    message: 'bad.jpg: it is damaged. Save it again.',
    importer: '/shop/pages/a.fxl',
    specifier: './bad.jpg?picture',
  });
  await assert.rejects(resolve('./lake.jpg?width=0&picture'), /Write '\?picture'/);
  await assert.rejects(resolve('./crash.jpg?picture'), /exited \(3\)/);
  assert.equal((await resolve('./lake.jpg?picture')).id, '/shop/lake.jpg?picture');
});

test('checks name each import of a picture that cannot be made', async (context) => {
  /** @type {[string, string][]} */
  const resolved = [
    ['./lake.jpg?picture', '/shop/lake.jpg'],
    ['./bad.jpg?picture', '/shop/bad.jpg'],
    ['./bad.jpg', '/shop/bad.jpg'],
  ];
  const looked = new Map([['pages/a.fxl', { resolved }]]);
  const text = "import lake from './lake.jpg?picture';\nimport bad from './bad.jpg?picture';";
  const order = { ...project(context), files: [{ path: 'pages/a.fxl', text }] };
  assert.deepEqual(await pictureMistakes(order, looked), [
    {
      ...{ path: 'pages/a.fxl', line: 2, column: 17, certain: true, syntax: false },
      ...{ message: 'bad.jpg: it is damaged', remedy: 'Save it again' },
    },
  ]);
});
