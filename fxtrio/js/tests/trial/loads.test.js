import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { loadsInThread } from '../../trial/loads.js';
import { asScript, compileBundle } from '../../worker/bundle.cjs';

const FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-trial-'));
test.after(() => fs.rmSync(FOLDER, { recursive: true }));

/** @type {[name: string, code: string, loads: boolean][]} */
const BUNDLES = [
  ['exports', 'export const pages = [];', true],
  ['what is printed', 'console.log(process.env.NODE_ENV);', true],
  ['a missing global', 'export const width = document.body.clientWidth;', false],
  ['another variable', 'if (process.env.PATH === undefined) throw 1;', false],
  ['an end of the process', 'process.exit(0);', false],
  ['a promise that is never kept', 'await new Promise(() => {});', false],
  ['a file of the project', "import fs from 'node:fs'; export default fs;", false],
];

for (const [name, code, loads] of BUNDLES) {
  test(`a bundle with ${name} ${loads ? 'loads' : 'may not load'}`, async () => {
    const bundle = path.join(FOLDER, `${name}.mjs`);
    fs.writeFileSync(bundle, code);
    assert.equal(await loadsInThread(bundle, code, 'production'), loads);
  });
}

/** @type {[name: string, code: string, loads: boolean][]} */
const SCRIPTS = [
  ['loads', 'exports.pages = [];', true],
  ['throws here', "throw new Error('thrown');", false],
  ['may not run here', "require('node:fs').rmSync(__filename);", false],
];

for (const [name, code, loads] of SCRIPTS) {
  test(`a script that ${name} is compiled`, async () => {
    const bundle = path.join(FOLDER, `${name}.cjs`);
    fs.writeFileSync(bundle, asScript(code));
    assert.equal(await loadsInThread(bundle, code, 'production'), loads);
    assert.equal(compileBundle(bundle).cachedDataRejected, false);
  });
}

test('a bundle that does not end is given up', async () => {
  const bundle = path.join(FOLDER, 'endless.mjs');
  const code = 'for (;;);';
  fs.writeFileSync(bundle, code);
  assert.equal(await loadsInThread(bundle, code, 'production', 1), false);
});
