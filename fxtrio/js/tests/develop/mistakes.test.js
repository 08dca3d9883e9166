import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Mistakes } from '../../develop/checks/background.js';

const TOOLCHAIN = fileURLToPath(new URL('../..', import.meta.url));

/** @param {string} text */
function orderOf(text) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-mistakes-'));
  after(() => fs.rmSync(root, { recursive: true }));
  fs.mkdirSync(path.join(root, 'pages'));
  const file = { path: 'pages/index.fxl', text, python: [], actions: [] };
  return { toolchain: TOOLCHAIN, root, pages: 'pages', files: [file] };
}

test('one thread looks at one order after the other, and survives those that fail', async (t) => {
  const mistakes = new Mistakes();
  t.after(() => mistakes.close());
  const wrong = orderOf('export default () => <h1>{absent}</h1>;\n');
  const right = orderOf('export default () => <h1>Here</h1>;\n');
  const failing = /** @type {any} */ ({ ...right, files: null });
  const found = [];
  for (const order of [wrong, failing, right]) {
    found.push(...(await Promise.allSettled([mistakes.look(order)])));
  }
  const superseded = mistakes.look(wrong);
  const newest = mistakes.look(wrong);
  assert.deepEqual((await superseded).problems, []);
  assert.equal((await newest).problems.length, 1);
  assert.deepEqual(
    found.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const [first, , last] = /** @type {any[]} */ (found);
  assert.match(first.value.problems[0].message, /absent/);
  assert.deepEqual(last.value.problems, []);
});
