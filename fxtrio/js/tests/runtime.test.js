/** Two `fx dev` of one project prepare the same at the same time. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { put } from '../develop/runtime.js';

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
