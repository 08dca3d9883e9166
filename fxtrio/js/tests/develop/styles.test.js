/** The texts of stylesheets, as Vite makes them. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { createServer } from 'vite';

import { stylesOf } from '../../develop/updates/styles.js';

test('the text of a stylesheet is known, unless it exports something or is wrong', async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-styles-'));
  const texts = {
    'look.css': '@import "./part.css";\np::after { content: "a\\n\\"b" }\n',
    'part.css': 'b { color: red }\n',
    'names.module.css': '.a { color: red }\n',
    'wrong.css': '@import "./absent.css";\n',
  };
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(path.join(root, name), text);
  const server = await createServer({
    ...{ root, configFile: false, logLevel: 'silent' },
    server: { middlewareMode: true, watch: null, ws: false },
  });
  t.after(() => server.close());
  t.after(() => fs.rmSync(root, { recursive: true }));
  const { client } = server.environments;
  for (const name of Object.keys(texts)) {
    if (name !== 'part.css') await client.transformRequest(`/${name}`).catch(() => {});
  }
  const stylesAt = async (/** @type {string} */ name) =>
    Object.fromEntries(await stylesOf(client, path.join(root, name)));

  assert.deepEqual(await stylesAt('look.css'), {
    '/look.css': {
      id: path.join(root, 'look.css'),
      text: `${texts['part.css'].trimEnd()}\np::after { content: "a\\n\\"b" }\n`,
    },
  });
  for (const name of ['part.css', 'names.module.css', 'wrong.css', 'absent.css']) {
    assert.deepEqual(await stylesAt(name), {}, name);
  }
});
