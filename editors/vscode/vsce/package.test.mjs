import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../dist/fxtrio.vsix', import.meta.url));

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
