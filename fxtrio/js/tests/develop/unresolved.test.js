/** Imports of nothing are found before Vite fails for them. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { parseSync } from 'vite';

import { unresolvedImport } from '../../develop/updates/unresolved.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-unresolved-'));
fs.mkdirSync(path.join(root, 'parts'));
fs.writeFileSync(path.join(root, 'parts/card.jsx'), '');
test.after(() => fs.rmSync(root, { recursive: true }));

/** @param {string} text */
async function missing(text) {
  const file = path.join(root, 'pages/index.fxl');
  const resolves = async (/** @type {string} */ name) => {
    if (name === 'react/no') throw new Error("'react' has no './no'");
    return name === 'react';
  };
  const place = { root, file, resolves };
  return unresolvedImport(parseSync('a.tsx', text).module, text, place);
}

test('files of the project that are there, packages and addresses are no mistake', async () => {
  const text =
    `import { Card } from '../parts/card';\nimport '@/parts/card.jsx?raw';\nimport 'react';` +
    `import 'https://other.example/x.js';\nimport '/@fs/own';`;
  assert.equal(await missing(text), null);
});

test('the first import of nothing is returned with its place', async () => {
  const file = '. Check the path, or save that file.';
  for (const [text, quoted, remedy] of [
    [
      `import '../parts/card';\nimport { Box } from '../parts/box';\nimport './x.css';`,
      "'../parts/box'",
      file,
    ],
    [`export { Box } from './box';\nimport './x.css';`, "'./box'", file],
    [`import 'react';\nexport * from './no';`, "'./no'", file],
    [`const late = () => import("./late");\nimport(\`./\${late}\`);`, '"./late"', file],
    [`import { greet } from 'greeting/soft';`, "'greeting/soft'", ". Run 'npm install greeting'."],
    [`import '#own';`, "'#own'", '. Add it to "imports" in package.json.'],
  ]) {
    const value = quoted.slice(1, -1);
    const message = `'${value}' cannot be found${remedy}`;
    assert.deepEqual(await missing(text), { start: text.indexOf(quoted), message });
  }
  const text = `import no from 'react/no';`;
  assert.deepEqual(await missing(text), { start: 15, message: "'react' has no './no'" });
});

test('modules of Node are told of, unless they are imported later', async () => {
  const text = `const late = () => import('node:os');\nexport { join } from 'path';`;
  const message =
    "'path' is a module of Node, which browsers do not have. Do it in Python, in an @server " +
    'function or an @action, and return the data that the page shows.';
  assert.deepEqual(await missing(text), { start: text.indexOf("'path'"), message });
});

test('a URL is no module', async () => {
  const found = await missing(`import logo from "/logo.svg?v=1";`);
  const message = `'/logo.svg?v=1' is a URL, not a module. Write it where it is used, such as src="/logo.svg"; '@/…' imports a file of the project.`;
  assert.deepEqual(found, { start: 17, message });
});

test('what only has types is not asked for', async () => {
  const types =
    `import type { Box } from './types';\nimport { type One } from './no';\n` +
    `export type { Two } from './no';\nexport { type Three } from './no';`;
  assert.equal(await missing(types), null);
  assert.notEqual(await missing(`import { type One, two } from './no';`), null);
});
