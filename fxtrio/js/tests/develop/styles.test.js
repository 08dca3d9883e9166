/** The texts of stylesheets, as Vite makes them. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { createServer } from 'vite';

import { stylesOf, withText } from '../../develop/updates/styles.js';

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

const LOOK = { id: '/app/look.css', url: '/look.css', type: 'css' };

/**
 * Tell of a change of `look.css`.
 *
 * @param {(url: string) => Promise<{ code: string }>} transformRequest
 * @param {string[]} steps what browsers learn of it
 * @param {() => Promise<void>} [tell]
 */
function change(transformRequest, steps, tell = async () => void steps.push('tell')) {
  const moduleGraph = { getModulesByFile: () => new Set([LOOK]) };
  const client = /** @type {any} */ ({ moduleGraph, transformRequest });
  const browsers = {
    hold: () => void steps.push('hold'),
    release: (/** @type {Map<string, { text: string }>} */ styles) => {
      const lengths = [...styles].map(([url, { text }]) => ` ${url} ${text.length}`);
      steps.push(`release${lengths.join()}`);
    },
  };
  return withText(LOOK.id, client, browsers, tell);
}

/** @param {number} length of the text */
const sheet = (length) => async () => ({
  code: `const __vite__css = "${'a'.repeat(length)}"\nimport.meta.hot.accept()`,
});

test('a text of up to 100,000 characters comes with the message of its change', async () => {
  for (const [length, released] of /** @type {[number, string][]} */ ([
    [100_000, 'release /look.css 100000'],
    [100_001, 'release'],
  ])) {
    /** @type {string[]} */
    const steps = [];
    await change(sheet(length), steps);
    assert.deepEqual(steps, ['hold', 'tell', released]);
  }
});

test('browsers do not wait for a stylesheet whose plug-in hangs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  /** @type {string[]} */
  const steps = [];

  const done = change(() => new Promise(() => {}), steps);
  await setImmediate();
  assert.deepEqual(steps, ['hold', 'tell']);
  t.mock.timers.tick(300);
  await done;

  assert.deepEqual(steps, ['hold', 'tell', 'release']);
});

test('messages go out whatever fails', async () => {
  const failing = {
    'what makes it': () => {
      throw new Error('at once');
    },
    'its text': async () => ({ code: 'const __vite__css = "\\x"\nimport.meta.hot.accept()' }),
  };
  for (const [name, transformRequest] of Object.entries(failing)) {
    /** @type {string[]} */
    const steps = [];
    await change(transformRequest, steps);
    assert.deepEqual(steps, ['hold', 'tell', 'release'], name);
  }
  /** @type {string[]} */
  const steps = [];
  const reported = change(sheet(1), steps, () => Promise.reject(new Error('not told')));
  await assert.rejects(reported, /not told/);
  assert.deepEqual(steps, ['hold', 'release']);
});
