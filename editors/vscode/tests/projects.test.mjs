import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, afterEach, test } from 'node:test';

const require = createRequire(import.meta.url);
const { findCommand } = require('../src/command.js');
const { folderOf, projectOf } = require('../src/projects.js');

let base = '';
beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-'));
});
afterEach(() => fs.rmSync(base, { recursive: true }));

/**
 * Write an empty file, and return its path.
 *
 * @param {string[]} parts
 */
function touch(...parts) {
  const file = path.join(base, ...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, '');
  return file;
}

/** @param {Partial<import('../src/command.js').Place>} place */
function found(place) {
  return findCommand({ root: base, folder: base, command: '', interpreter: '', ...place });
}

test('without an environment the command is the one on the PATH', () => {
  assert.equal(found({}), 'fx');
  assert.equal(found({ interpreter: 'python' }), 'fx');
});

test('the command is that of the nearest environment, up to the folder that is open', () => {
  const root = path.join(base, 'repository', 'web');
  const folder = path.dirname(root);
  touch('.venv', 'bin', 'fx');
  assert.equal(found({ root, folder }), 'fx');
  for (const parts of [['venv'], ['.venv'], ['web', 'venv'], ['web', '.venv']]) {
    const file = touch('repository', ...parts, 'bin', 'fx');
    assert.equal(found({ root, folder }), file);
  }
});

test('an interpreter that is chosen comes before the environments of the project', () => {
  touch('.venv', 'bin', 'fx');
  const file = touch('elsewhere', 'bin', 'fx');
  for (const interpreter of [
    path.join(base, 'elsewhere', 'bin', 'python'),
    '${workspaceFolder}/elsewhere/bin/python',
    './elsewhere/bin/python3.12',
    path.join(base, 'elsewhere'),
  ]) {
    assert.equal(found({ interpreter }), file);
  }
  assert.equal(found({ interpreter: '/nowhere/python' }), path.join(base, '.venv/bin/fx'));
});

test('a command that is set is taken as it is, but for what the shell would spell out', () => {
  touch('.venv', 'bin', 'fx');
  assert.equal(found({ command: 'fx-of-mine' }), 'fx-of-mine');
  assert.equal(found({ command: '/opt/fx' }), '/opt/fx');
  assert.equal(found({ command: '~/fx' }), path.join(os.homedir(), 'fx'));
  assert.equal(found({ command: '${workspaceFolder}/x/fx' }), path.join(base, 'x/fx'));
  assert.equal(found({ command: 'x/fx' }), path.join(base, 'x/fx'));
});

test('the project of a page is found as the server finds it', () => {
  const page = path.join(base, 'a', 'site', 'pages', 'deep', 'index.fxl');
  const folders = [base, path.join(base, 'a')];
  assert.equal(projectOf(page, folders), path.join(base, 'a', 'site'));
  touch('a', 'fx.config.json');
  assert.equal(projectOf(page, folders), path.join(base, 'a'));
  assert.equal(projectOf(path.join(base, 'b', 'c', 'x.fxl'), folders), base);
  assert.equal(projectOf('/nowhere/x.fxl', folders), '/nowhere');
});

test('a file is in the innermost of the open folders', () => {
  const folders = ['/a', '/a/b'];
  assert.equal(folderOf('/a/b/c/x', folders), '/a/b');
  assert.equal(folderOf('/a/bc/x', folders), '/a');
  assert.equal(folderOf('/b', folders), undefined);
});
