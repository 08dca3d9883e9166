import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Stacks } from '../../../fxtrio/js/worker/stacks.cjs';
import { asScript, compileBundle, keepCompiled, loadBundle, runBundle } from '../../../fxtrio/js/worker/bundle.cjs';

const FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'fx bundle #'));
test.after(() => fs.rmSync(FOLDER, { recursive: true }));

const CODE = `'use strict'; exports.place = () => new Error('here').stack;
exports.url = require('url').pathToFileURL(__filename).href;
exports.folder = __dirname;
exports.builtin = require('node:path').sep;
exports.pages = 3;
`;

/**
 * @param {string} name
 * @param {string} [code]
 * @returns {string} path of a file
 */
function write(name, code = CODE) {
  const file = path.join(FOLDER, name);
  fs.writeFileSync(file, name.endsWith('.cjs') ? asScript(code) : code);
  return file;
}

/** @param {string} name */
function writeCompiled(name) {
  const file = write(name);
  const script = compileBundle(file);
  runBundle(script, file);
  keepCompiled(script, file);
  return { file, compiled: `${file}.v8` };
}

/** @param {string} file whether V8 takes the compiled code beside it */
function isUsed(file) {
  return compileBundle(file).cachedDataRejected === false;
}

test('an ES module is imported', async () => {
  const file = write('module.mjs', 'export const pages = await Promise.resolve(2);');
  assert.equal((await loadBundle(file)).pages, 2);
});

for (const kind of ['as it is written', 'with compiled code']) {
  test(`a script ${kind} knows where it is, and so do its errors`, () => {
    const name = `${kind}.cjs`;
    const built = kind === 'with compiled code' ? writeCompiled(name).file : write(name);
    const file = path.join(FOLDER, `moved ${name}`);
    for (const end of ['', '.v8']) if (fs.existsSync(built + end)) fs.renameSync(built + end, file + end);
    assert.equal(isUsed(file), kind === 'with compiled code');
    const app = loadBundle(file);
    const url = pathToFileURL(file).href;
    const column = asScript(CODE).indexOf('new Error') + 1;
    const { stack } = new Stacks().describe(Object.assign(new Error(), { stack: app.place() }));
    assert.ok(stack.includes(`${file}:1:${column}`), stack);
    assert.deepEqual([app.url, app.folder, app.builtin, app.pages], [url, FOLDER, path.sep, 3]);
  });
}

test('what a script throws when it is called leads to its line', () => {
  const file = write('throws.cjs', "\nthrow new Error('early');\n");
  const place = `${file}:2:7`;
  assert.throws(
    () => loadBundle(file),
    (/** @type {Error} */ error) => new Stacks().describe(error).stack.includes(place),
  );
});

/** @type {[name: string, change: (at: { file: string, compiled: string }) => void][]} */
const CHANGES = [
  ['is missing', ({ compiled }) => fs.rmSync(compiled)],
  ['is empty', ({ compiled }) => fs.writeFileSync(compiled, '')],
  ['ends early', ({ compiled }) => fs.truncateSync(compiled, 400)],
  ['is of another script of the same length', ({ file }) => write(path.basename(file), CODE.replace('= 3', '= 4'))],
];

for (const [what, change] of CHANGES) {
  test(`a script is compiled when its compiled code ${what}`, () => {
    const at = writeCompiled(`${what}.cjs`);
    assert.ok(isUsed(at.file));
    change(at);
    assert.ok(!isUsed(at.file));
    assert.equal(loadBundle(at.file).pages, what.includes('another script') ? 4 : 3);
  });
}

test('a changed byte anywhere in the compiled code is noticed', () => {
  const { file, compiled } = writeCompiled('damaged.cjs');
  const bytes = fs.readFileSync(compiled);
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] ^= 1;
    fs.writeFileSync(compiled, damaged);
    assert.ok(!isUsed(file), `byte ${at} of ${bytes.length}`);
  }
});

test('compiled code of another Node is not used', () => {
  const { file } = writeCompiled('other.cjs');
  const real = Object.getOwnPropertyDescriptor(process, 'versions') ?? {};
  Object.defineProperty(process, 'versions', { ...real, value: { ...process.versions, node: '0' } });
  try {
    assert.ok(!isUsed(file));
  } finally {
    Object.defineProperty(process, 'versions', real);
  }
  assert.ok(isUsed(file));
});
