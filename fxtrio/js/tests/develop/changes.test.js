import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { parseSync } from 'vite';

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
  const told = [];
  watcher.on('change', (file) => {
    told.push(path.basename(file));
    settled.emit('told');
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
  const site = /** @type {any} */ ({ sourceOf: () => null, setBroken() {}, forget() {} });
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
  assert.deepEqual(told, []);

  fs.writeFileSync(card, 'export const Card = () => null;\n');
  assert.deepEqual((await apply(card)).problems, []);
  assert.deepEqual(told.sort(), ['card.jsx', 'list.jsx']);

  heard.length = 0;
  await apply(card, { python: [] });
  assert.deepEqual(heard, ['syntax', 'python', 'fx:settled']); // error views ask again after it
});
