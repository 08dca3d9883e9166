import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build, parseSync } from 'vite';

import { foreignPlugin } from '../../vite/foreign.js';
import { flatten } from '../../vite/problems.js';

const RENDERERS = fileURLToPath(new URL('../../render/renderers.js', import.meta.url));
const CODE = "import { randomUUID } from 'node:crypto';\nexport default randomUUID;\n";

/**
 * Bundle a module of a project, as for renders.
 *
 * @param {string} root of the project
 * @param {string} id of the module
 * @param {string} code
 */
async function bundled(root, id, code) {
  const loaded = { name: 'given', load: (/** @type {string} */ it) => (it === id ? code : null) };
  const resolved = { name: 'resolved', resolveId: (/** @type {string} */ it) => it };
  await build({
    configFile: false,
    logLevel: 'silent',
    root,
    build: { write: false, ssr: id },
    plugins: [resolved, loaded, foreignPlugin(root, parseSync)],
  });
}

test('a module of Node is refused in a file of the project', async () => {
  await assert.rejects(bundled('/shop', '/shop/components/card.js', CODE), /is a module of Node/);
});

test('a name that no package.json gives is refused with its place', async () => {
  const code = "export const page = 1;\nexport { card } from '#card';\n";
  const failed = await bundled('/shop', '/shop/components/card.js', code).catch(flatten);
  assert.match(failed?.[0].message, /'#card' cannot be found/);
  assert.deepEqual(failed?.[0].loc, { file: '/shop/components/card.js', line: 2, column: 21 });
});

test('the project may contain its Python environment, with fxtrio in it', async () => {
  await bundled(path.resolve(RENDERERS, '../../../..'), RENDERERS, CODE);
  const folder = '/shop/.venv/lib/python3.14/site-packages';
  await bundled('/shop', `${folder}/fxtrio/js/render/renderers.js`, CODE);
});
