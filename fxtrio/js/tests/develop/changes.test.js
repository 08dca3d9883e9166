import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';

import { parseSync } from 'vite';

import { Browsers } from '../../develop/browsers.js';
import { Changes } from '../../develop/updates/changes.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-changes-'));
const page = path.join(root, 'list.jsx');
const card = path.join(root, 'card.jsx');
fs.writeFileSync(page, `import { Card } from './card';\nexport const List = () => <Card />;\n`);
test.after(() => fs.rmSync(root, { recursive: true }));

test('what a broken file lacks may have come, and what is wrong is told before the end', async () => {
  const settled = new EventEmitter();
  const watcher = new EventEmitter();
  /** @type {string[]} what Vite is told of */
  const notified = [];
  watcher.on('change', (file) => {
    notified.push(path.basename(file));
    settled.emit('sent');
  });
  const module = { importers: new Set(), file: card, type: 'js', url: '/card.jsx' };
  const moduleGraph = {
    urlToModuleMap: new Map(),
    idToModuleMap: new Map(),
    getModulesByFile: (/** @type {string} */ file) =>
      file === card ? new Set([module]) : undefined,
  };
  /** @type {string[]} what browsers are told of */
  const heard = [];
  const note = (/** @type {string} */ name) => void heard.push(name);
  const { server, browsers, vite } = /** @type {any} */ ({
    server: { environments: { client: { moduleGraph } }, watcher },
    browsers: {
      ...{ isHeard: false, on() {}, announce: note, setProblems: note, send() {} },
      pagesOf: () => [],
    },
    vite: { parseSync, isCSSRequest: () => false },
  });
  const site = /** @type {any} */ ({ sourceOf: () => null, forget() {} });
  const changes = new Changes(root, server, site, browsers, vite, settled);
  const apply = (/** @type {string} */ file, /** @type {any} */ problems = {}) =>
    changes.apply({
      ui: [],
      files: [{ type: 'change', file }],
      texts: [],
      data: null,
      reload: false,
      problems,
    });

  const { problems } = await apply(page); // in the moment in which the other one is rewritten
  assert.match(problems[0].message, /'.\/card' cannot be found/);
  assert.deepEqual(notified, []);

  fs.writeFileSync(card, 'export const Card = () => null;\n');
  assert.deepEqual((await apply(card)).problems, []);
  assert.deepEqual(notified.sort(), ['card.jsx', 'list.jsx']);

  heard.length = 0;
  await apply(card, { python: [] });
  assert.deepEqual(heard, ['syntax', 'python', 'fx:settled']); // error views ask again after it
});

test('a page is shown as it is told, before it is on the disk, and outlined last', async () => {
  const settled = new EventEmitter();
  const watcher = new EventEmitter();
  watcher.on('change', () => settled.emit('sent'));
  /** @type {string[]} */
  const steps = [];
  const moduleGraph = {
    urlToModuleMap: new Map(),
    idToModuleMap: new Map(),
    getModulesByFile: () => new Set([{ importers: new Set(), type: 'js', url: '/a.fxl.tsx' }]),
  };
  const warmupRequest = async () => {
    await setImmediate();
    steps.push('made');
  };
  const { server, browsers, vite, site } = /** @type {any} */ ({
    server: { environments: { client: { moduleGraph, warmupRequest } }, watcher },
    browsers: {
      ...{ isHeard: true, on() {}, setProblems() {}, send() {}, pagesOf: () => [] },
      announce: (/** @type {string} */ name) => void steps.push(name),
    },
    vite: {
      isCSSRequest: () => false,
      parseSync: (/** @type {[string, string]} */ ...code) => ({
        ...{ errors: [], comments: [], module: parseSync(...code).module },
        get program() {
          steps.push('outlined');
          return parseSync(...code).program;
        },
      }),
    },
    site: {
      ...{ sourceOf: () => null, forget() {}, stagedAt: () => path.join(root, 'none.tsx') },
      idOf: (/** @type {string} */ source) => path.join(root, `${source}.tsx`),
      setRight: (/** @type {string} */ _, /** @type {string} */ code) => void steps.push(code),
    },
  });
  const text = 'export default () => null;\n';
  const { outlines } = await new Changes(root, server, site, browsers, vite, settled).apply({
    ui: [{ type: 'change', file: 'a.fxl', text }],
    ...{ files: [], texts: [], data: null, reload: false, problems: {} },
  });
  assert.deepEqual(steps, [text, 'fx:settled', 'made', 'outlined']);
  assert.deepEqual(Object.keys(outlines), ['a.fxl']);
});

test('a stylesheet comes with its text, after the modules of the same save', async () => {
  const settled = new EventEmitter();
  const watcher = new EventEmitter();
  const browsers = new Browsers();
  /** @type {any[]} */
  const sent = [];
  const socket = Object.assign(new EventEmitter(), {
    ...{ writable: true, writableLength: 0, resume() {}, pause() {} },
    write: (/** @type {string} */ line) => void sent.push(JSON.parse(line)),
  });
  browsers.add(/** @type {any} */ (socket));
  watcher.on('change', (file) => {
    const acceptedPath = `/${path.basename(file)}`;
    browsers.send({ type: 'update', updates: [{ acceptedPath }] });
    settled.emit('sent');
  });
  const code = 'const __vite__css = "p {}"\nimport.meta.hot.accept()';
  const moduleGraph = {
    urlToModuleMap: new Map(),
    idToModuleMap: new Map(),
    getModulesByFile: (/** @type {string} */ id) =>
      new Set([{ importers: new Set(), id, type: 'js', url: `/${path.basename(id)}` }]),
  };
  const client = { moduleGraph, warmupRequest() {}, transformRequest: async () => ({ code }) };
  const vite = { parseSync, isCSSRequest: (/** @type {string} */ file) => file.endsWith('.css') };
  const site = { sourceOf: () => null, forget() {} };
  const server = { environments: { client }, watcher };
  const parameters = /** @type {any[]} */ ([root, server, site, browsers, vite, settled]);
  const [look, script] = ['look.css', 'script.js'].map((name) => path.join(root, name));
  fs.writeFileSync(script, 'export {};\n');

  await Reflect.construct(Changes, parameters).apply({
    files: [look, script].map((file) => ({ type: 'change', file })),
    ...{ ui: [], texts: [], data: null, reload: false, problems: {} },
  });

  const updates = sent.flatMap(({ updates = [] }) => updates);
  assert.deepEqual(updates, [
    { acceptedPath: '/script.js' },
    { acceptedPath: '/look.css', style: { id: look, text: 'p {}' } },
  ]);
  assert.equal(sent.at(-1).event, 'fx:settled');
});
