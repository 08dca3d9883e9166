import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import Module, { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = path.join(HERE, 'dist', 'fxtrio.vsix');
const require = createRequire(import.meta.url);
const { findCommand } = require('../src/command.js');

test('the command is what is set, that of the folder, or the one on the PATH', (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));

  assert.equal(findCommand('', [folder]), 'fx');
  for (const environment of ['venv', '.venv']) {
    const file = path.join(folder, environment, 'bin', 'fx');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '');
    assert.equal(findCommand('', ['/nowhere', folder]), file);
  }
  assert.equal(findCommand('/opt/fx', [folder]), '/opt/fx');
});

test('the package holds what runs, and nothing else', () => {
  const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
  const names = execFileSync('python3', ['-c', list, PACKAGE], { encoding: 'utf8' });

  assert.deepEqual(names.trim().split('\n').sort(), [
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/LICENSE.txt',
    'extension/dist/extension.js',
    'extension/language-configuration.json',
    'extension/package.json',
    'extension/readme.md',
    'extension/syntaxes/fxl.tmLanguage.json',
  ]);
});

/**
 * A stand-in for the editor: whatever is asked of it is a class with everything in it.
 *
 * @param {Record<string, unknown>} known
 * @returns {any}
 */
function standIn(known) {
  return new Proxy(class {}, {
    get: (target, name) => {
      if (name in known) return known[String(name)];
      if (name === 'prototype' || typeof name === 'symbol') return Reflect.get(target, name);
      return standIn({});
    },
  });
}

test('in a folder that is not trusted the extension starts nothing', async (context) => {
  /** @type {string[]} */
  const registered = [];
  const vscode = standIn({
    version: '1.99.0',
    workspace: standIn({
      isTrusted: false,
      onDidGrantWorkspaceTrust: () => ({}),
      onDidChangeConfiguration: () => ({}),
      getConfiguration: () => assert.fail('it reads settings'),
    }),
    commands: {
      registerCommand: (/** @type {string} */ name) => {
        registered.push(name);
        return {};
      },
    },
  });
  const loader = /** @type {any} */ (Module);
  const load = loader._load;
  context.after(() => {
    loader._load = load;
  });
  loader._load = (/** @type {string} */ name, /** @type {unknown[]} */ ...more) =>
    name === 'vscode' ? vscode : load(name, ...more);
  const extension = require(path.join(HERE, 'dist', 'extension.js'));
  /** @type {unknown[]} */
  const subscriptions = [];
  await extension.activate({ subscriptions });
  await extension.deactivate();

  assert.deepEqual(registered, ['fx.restart']);
  assert.equal(subscriptions.length, 3);
});
