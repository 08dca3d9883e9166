/** Imports of nothing are found before Vite fails for them. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { parseSync } from 'vite';

import { unresolvedImport } from '../develop/unresolved.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-unresolved-'));
fs.mkdirSync(path.join(root, 'parts'));
fs.writeFileSync(path.join(root, 'parts/card.jsx'), '');
test.after(() => fs.rmSync(root, { recursive: true }));

/** @param {string} text */
function missing(text) {
  const file = path.join(root, 'pages/index.fxl');
  return unresolvedImport(parseSync('a.tsx', text).module, { root, file });
}

test('files of the project that are there, and packages, are no mistake', () => {
  const text = `import { Card } from '../parts/card';\nimport '@/parts/card.jsx?raw';\nimport 'react';`;
  assert.equal(missing(text), null);
});

test('the first import of nothing is returned with its place', () => {
  const text = `import '../parts/card';\nimport { Box } from '../parts/box';\nimport './x.css';`;
  assert.deepEqual(missing(text), { start: text.indexOf("'../parts/box'"), value: '../parts/box' });
});

test('what only has types is not asked for', () => {
  assert.equal(
    missing(`import type { Box } from './types';\nimport { type One } from './no';`),
    null,
  );
  assert.notEqual(missing(`export * from './no';\nimport { type One, two } from './no';`), null);
});
