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

/** How compilers mark a module that was written as one with `export`. */
const MARK = "Object.defineProperty(exports, '__esModule', { value: true });";

/** Text by name, and whether that tells all names. @type {Record<string, [string, boolean]>} */
const FORMS = {
  'names.mjs': ['export const a = 1; export { a as b };', true],
  'stars.mjs': ["export * from './names.mjs'; export * from './ring.mjs';", true],
  'ring.mjs': ["export * from './stars.mjs';", true],
  'lost.mjs': ["export * from './nowhere.mjs'; export const a = 1;", false],
  'broken.mjs': ['export const a = ;', false],
  'types.ts': ['export type a = 1; export enum b { c }', true],
  'assigned.ts': ['export = { a: 1 };', false],
  'mixed.js': ["import './names.mjs'; exports.a = 1;", false],
  'aside.ts': ['const x = 1; export = x;', false],
  'plain.cjs': [`${MARK} exports.a = 1; module.exports.b = 2;`, true],
  'minified.cjs': [
    '"use strict";Object.defineProperty(exports,"__esModule",{value:!0}),exports.a=1,exports.b=2;',
    true,
  ],
  'loose.cjs': ['exports.__esModule = true; exports.a = exports.b = void 0;', true],
  'whole.cjs': ["module.exports = { __esModule: true, a: 1, 'b': 2 };", true],
  'defined.cjs': [
    `${MARK} Object.defineProperty(exports, 'a', { value: 1 }); exports.b = 1;`,
    true,
  ],
  'required.cjs': [
    "if (x) module.exports = require('./plain.cjs'); else module.exports = require('./whole.cjs');",
    true,
  ],
  'all.cjs': [
    `${MARK} __exportStar(require('./plain.cjs'), exports); var o = { exports: 1 }; o.exports;`,
    true,
  ],
  'typescript.cjs': [
    `${MARK} var __a = (this && this.__a) || function (m) { return this.c; }; exports.a = exports.b = __a;`,
    true,
  ],
  // An object that others may extend, such as modules of the same package.
  'open.cjs': ['exports.a = 1;', false],
  'open-whole.cjs': ['module.exports = { a: 1 };', false],
  'open-required.cjs': ["module.exports = require('./open.cjs');", false],
  'open-all.cjs': [`${MARK} __exportStar(require('./open.cjs'), exports);`, false],
  'open-star.mjs': ["export * from './open.cjs';", false],
  'inner.cjs': ['exports.a = 1; (function (exports) { exports.__esModule = true; })({});', false],
  // An object that the module itself has by another name.
  'named.cjs': [`${MARK} var core = module.exports = { __esModule: true }; core.a = 1;`, false],
  'assigned.cjs': [`${MARK} let x; x = module.exports = { __esModule: true }; x.a = 1;`, false],
  'passed.cjs': [`${MARK} add(module.exports = { __esModule: true });`, false],
  'chained.cjs': [`${MARK} exports.x = module.exports = { __esModule: true };`, false],
  'this.cjs': [`${MARK} this.a = 1;`, false],
  'arrow.cjs': [`${MARK} (() => { this.a = 1; })();`, false],
  'called.cjs': [`${MARK} (function () { this.a = 1; }).call(this);`, false],
  'arguments.cjs': [`${MARK} arguments[0].a = 1;`, false],
  'evaluated.cjs': [`${MARK} eval('exp' + 'orts.a = 1');`, false],
  'proto.cjs': ["module.exports = { __proto__: require('./a.cjs'), __esModule: true };", false],
  'proto-later.cjs': [`${MARK} exports.__proto__ = { a: 1 };`, false],
  'made.cjs': ['module.exports = make();', false],
  'spread.cjs': ['module.exports = { __esModule: true, ...rest };', false],
  'looped.cjs': [`${MARK} for (const name of names) exports[name] = 1;`, false],
  'umd.cjs': [`${MARK} (function (f) { f(exports); })(function (e) { e.a = 1; });`, false],
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

  const expected = Object.entries(FORMS).map(([name, [, isReported]]) => [
    name,
    isReported ? ['nope'] : [],
  ]);
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

test('React has the names that its text assigns, and another package in its place has any', (context) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-exported-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  const home = path.join(root, 'node_modules');
  for (const name of ['react', 'react-dom']) {
    fs.mkdirSync(path.join(home, name), { recursive: true });
    fs.writeFileSync(path.join(home, name, 'package.json'), '{ "version": "19.2.0" }');
  }
  const file = path.join(home, 'react', 'index.js');
  const lacks = (/** @type {string} */ text) => {
    fs.writeFileSync(file, text);
    return ['a', 'b'].filter((name) => lack('react', name, root, root));
  };

  assert.deepEqual(lacks('exports.a = 1;'), ['b']);
  assert.deepEqual(lacks("module.exports = require('preact/compat'); // in its place"), []);
  assert.deepEqual(lacks('var whole = { a: 1 }; module.exports = whole;'), []);
  assert.deepEqual(lacks("import './whole.js'; export const a = 1, c = 2;"), ['b']);
});
