/** What a module exports is told by its text, or is not known. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';

const TOOLCHAIN = fileURLToPath(new URL('../..', import.meta.url));
const { lack } = await loadTools(TOOLCHAIN);

/** Text by name, and whether that tells all names. @type {Record<string, [string, boolean]>} */
const FORMS = {
  'names.mjs': ['export const a = 1; export { a as b };', true],
  'stars.mjs': ["export * from './names.mjs'; export * from './ring.mjs';", true],
  'ring.mjs': ["export * from './stars.mjs';", true],
  'lost.mjs': ["export * from './nowhere.mjs'; export const a = 1;", false],
  'broken.mjs': ['export const a = ;', false],
  'types.ts': ['export type a = 1; export enum b { c }', true],
  'assigned.ts': ['export = { a: 1 };', false],
  'plain.cjs': ['exports.a = 1; module.exports.b = 2;', true],
  'whole.cjs': ["module.exports = { a: 1, 'b': 2 };", true],
  'defined.cjs': ["Object.defineProperty(exports, 'a', { value: 1 }); exports.b = 2;", true],
  'required.cjs': [
    "if (x) module.exports = require('./plain.cjs'); else module.exports = require('./whole.cjs');",
    true,
  ],
  'all.cjs': [
    "__exportStar(require('./plain.cjs'), exports); var o = { exports: 1 }; o.exports;",
    true,
  ],
  'made.cjs': ['module.exports = make();', false],
  'spread.cjs': ['module.exports = { a: 1, ...rest };', false],
  'looped.cjs': ['exports.a = 1; for (const name of names) exports[name] = 1;', false],
  'umd.cjs': ['(function (f) { f(exports); })(function (e) { e.a = 1; });', false],
  'script.js': ['window.a = 1;', false],
};

test('a name is missing only where the text of a module says all of them', (context) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-exported-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  for (const [name, [text]] of Object.entries(FORMS)) fs.writeFileSync(path.join(root, name), text);
  const found = Object.keys(FORMS).map((name) => {
    const wrong = ['a', 'b', 'nope'].filter((one) => lack(`./${name}`, one, root, root));
    return [name, wrong];
  });

  const expected = Object.entries(FORMS).map(([name, [, told]]) => [name, told ? ['nope'] : []]);
  assert.deepEqual(found, expected);
  assert.deepEqual(lack('./plain.cjs', 'default', root, root), undefined);
  assert.match(lack('./names.mjs', 'default', root, root)?.message ?? '', /no default export/);
});

test('a file that has changed is read anew', (context) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-exported-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  const file = path.join(root, 'a.js');
  fs.writeFileSync(file, 'export const first = 1;');
  assert.ok(lack('./a', 'second', root, root));

  fs.writeFileSync(file, 'export const first = 1, second = 2;');
  assert.equal(lack('./a', 'second', root, root), undefined);
});
