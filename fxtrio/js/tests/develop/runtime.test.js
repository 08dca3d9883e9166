/** What is bundled before any page: React and the client runtime. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { bundledPlugin } from '../../develop/runtime/react.js';
import { bundleRuntime, put, reactFile, reactModules } from '../../develop/runtime/runtime.js';
import { RuntimeFiles } from '../../develop/runtime/served.js';

test('who comes second leaves what the first one has put there', (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-runtime-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const target = path.join(folder, 'made');
  for (const name of ['first', 'second']) {
    fs.mkdirSync(path.join(folder, name));
    fs.writeFileSync(path.join(folder, name, 'text'), name);
    put(path.join(folder, name), target);
  }

  assert.equal(fs.readFileSync(path.join(target, 'text'), 'utf8'), 'first');
  assert.deepEqual(fs.readdirSync(folder), ['made']);
  assert.throws(() => put(path.join(folder, 'none'), path.join(folder, 'other')), /ENOENT/);
});

test('a damaged runtime is bundled again', async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-runtime-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const require = createRequire(import.meta.url);
  const home = fileURLToPath(new URL('../..', import.meta.url));
  const runtime = await bundleRuntime(require, home, folder);
  const file = path.join(runtime, 'renders.cjs');
  const code = fs.readFileSync(file);
  const seal = `${runtime}.sha256`;

  for (const damage of [
    () => fs.writeFileSync(file, Buffer.alloc(code.length)),
    () => fs.rmSync(file),
  ]) {
    damage();
    assert.equal(await bundleRuntime(require, home, folder), runtime);
    assert.ok(fs.readFileSync(file).equals(code));
    assert.deepEqual(
      fs.readdirSync(folder).sort(),
      [runtime, seal].map((one) => path.basename(one)),
    );
  }
});

test('React is bundled with the runtime, and packages share it', async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-runtime-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const require = createRequire(import.meta.url);
  const home = fileURLToPath(new URL('../..', import.meta.url));

  const runtime = await bundleRuntime(require, home, folder);

  const inode = fs.statSync(runtime).ino;
  assert.equal(await bundleRuntime(require, home, folder), runtime, 'once');
  assert.equal(fs.statSync(runtime).ino, inode);
  for (const name of reactModules(home)) {
    const code = fs.readFileSync(reactFile(runtime, name), 'utf8');
    const { default: module, ...names } = await import(reactFile(runtime, name));
    assert.deepEqual(Object.keys(names).sort(), Object.keys(require(name)).sort(), name);
    assert.equal(module[Object.keys(names)[0]], names[Object.keys(names)[0]]);
    assert.doesNotMatch(code, /from ?"react/, 'nothing is left to be bundled');
  }

  const files = fs.readdirSync(runtime);
  const shared = files.filter((name) => name.startsWith('shared-'));
  assert.ok(shared.length <= 3, 'each takes its time');
  const main = fs.readFileSync(path.join(runtime, 'main.js'), 'utf8');
  const [hook, required] = ['\ninjectIntoGlobalHook(window)', 'require_client()'].map((code) =>
    main.indexOf(code),
  );
  assert.ok(0 < hook && hook < required, 'React looks for Fast Refresh when it is loaded');

  const texts = shared.map((name) => fs.readFileSync(path.join(runtime, name), 'utf8'));
  const RENDERER = 'var require_react_dom_client_development = ';
  const renderer = texts.find((text) => text.includes(RENDERER)) ?? '';
  assert.ok(!/^\w.*require_\w+\(\)/m.test(renderer), 'nothing runs when it is loaded');
  const [, body = ''] = renderer.split(RENDERER);
  assert.ok(/^.*\n\tfunction /.test(body), 'all of it is in one function');

  const { config } = bundledPlugin(home);
  const { plugins } = /** @type {any} */ (config)().optimizeDeps.rolldownOptions;
  const file = path.join(folder, 'package.js');
  fs.writeFileSync(
    file,
    `import { useState, noMore } from 'react'; import * as dom from 'react-dom';` +
      `const again = require('react'); export { useState, noMore, dom, again };`,
  );
  const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
  const { build } = await import(rolldown);
  const { output } = await build({ input: file, plugins, write: false, logLevel: 'silent' });
  const [{ code, imports }] = output;
  assert.deepEqual([...imports].sort(), ['react', 'react-dom']);
  assert.ok(code.length < 5000, 'a copy of React is a hundred times as much');
});

const FOLDER = '/base/_fx/.fx/dev/runtime/abc/';

test('files of the runtime are sent as they are, and named for pages to load at once', (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-runtime-'));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const runtime = path.join(root, '.fx/dev/runtime/abc');
  fs.mkdirSync(runtime, { recursive: true });
  const texts = {
    'main.js': 'export const x = 11;\n',
    'index.js': 'export {};\n',
    'refresh.js': 'export {};\n',
    'library-react.js': 'export {};\n',
    'library-react-dom.js': 'export {};\n',
    'library-react-jsx-dev-runtime.js': 'export {};\n',
    'renders.cjs': 'module.exports = 1;\n',
    'shared-x.js': 'export const x = 1;\n',
  };
  for (const [name, text] of Object.entries(texts)) {
    fs.writeFileSync(path.join(runtime, name), text);
  }
  const settings = /** @type {any} */ ({ root, base: '/base/_fx/', toolchain: '/tools' });
  const files = new RuntimeFiles(settings, runtime);
  const textAt = (/** @type {string} */ url) => {
    let sent = '';
    const response = /** @type {any} */ ({
      setHeader() {},
      end: (/** @type {string} */ text) => (sent = text),
    });
    return files.answer(url, response) ? sent : null;
  };

  assert.equal(textAt(`${FOLDER}shared-x.js`), texts['shared-x.js']);
  assert.equal(textAt(`${FOLDER}index.js`), texts['index.js']);
  for (const name of ['renders.cjs', '../abc/index.js', 'index.js?raw', 'absent.js']) {
    assert.equal(textAt(FOLDER + name), null, name);
  }
  assert.deepEqual(files.preload, [
    ...[
      'main.js', // the largest is loaded first
      'shared-x.js',
      'library-react-jsx-dev-runtime.js',
      'library-react.js',
      'refresh.js',
    ].map((name) => FOLDER + name),
    ...[
      '@vite/client',
      '@fs/tools/node_modules/vite/dist/client/env.mjs', // which that one imports
    ].map((name) => `/base/_fx/${name}`),
  ]);
});
