import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';
import { tailwindMistakes } from '../../check/tailwind.js';

const tools = await loadTools(fileURLToPath(new URL('../..', import.meta.url)));
const PAGES = ['pages/index.fxl', 'pages/blog/[id].fxl'];

/**
 * @param {string} text
 * @param {Record<string, string>} [more]
 */
function messagesIn(text, more = {}) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-tailwind-'));
  try {
    for (const [name, content] of Object.entries({ 'tailwind.config.cjs': text, ...more })) {
      fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      fs.writeFileSync(path.join(root, name), content);
    }
    const found = tailwindMistakes(tools, root, 'pages', PAGES);
    return found.map(({ offset, remedy }) => `${text.slice(offset).split('\n')[0]} | ${remedy}`);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

const REMEDY = "Write './pages/**/*.{fxl,js,jsx,ts,tsx}'";

for (const [config, place] of [
  ['module.exports = {\n  content: ["./pages/**/*.{pyxl,js,jsx}"],\n};', '"./pages/**/*.{pyxl'],
  ['export default {\n  content: [\n"./lib/*.js",\n"pages/**/*.pyxl"],\n};', '"pages/**/*.pyxl"'],
  ['module.exports = {\n  content: { files: ["pages/*.jsx"] } };', '"pages/*.jsx"'],
  ['export default { content: ["pages/**/*.fxl", "!pages/**/*.fxl"] };', '"pages/**/*.fxl"'],
  [
    'const c = {\n content: [`./pages/**/*.tsx`] } satisfies Config;\nexport default c;',
    '`./pages',
  ],
]) {
  test(`a page file is in none of ${place}`, () => {
    const [found, ...rest] = messagesIn(config);
    assert.deepEqual(rest, []);
    assert.ok(found.startsWith(place) && found.endsWith(REMEDY), found);
  });
}

test('without a glob of the pages one is to be added', () => {
  const [found] = messagesIn("module.exports = { content: ['./app/**/*.tsx'] };");
  assert.match(found, /^'\.\/app.* \| Add '\.\/pages/);
});

test('what leads to a page file, or cannot be read, is left alone', () => {
  assert.deepEqual(messagesIn("module.exports = { content: ['./pages/**/*.{fxl,jsx}'] };"), []);
  assert.deepEqual(messagesIn("module.exports = { content: ['./**/*.fxl'] };"), []);
  assert.deepEqual(messagesIn("module.exports = { content: [...base, './lib/*.js'] };"), []);
  assert.deepEqual(messagesIn('module.exports = { content: globs() };'), []);
  assert.deepEqual(
    messagesIn('module.exports = { theme: { extend: { content: { a: "b" } } } };'),
    [],
  );
  assert.deepEqual(messagesIn('module.exports = { content: ['), []);
});

test('Tailwind 4 finds the classes itself', () => {
  const installed = { 'node_modules/tailwindcss/package.json': '{"version": "4.1.0"}' };
  assert.deepEqual(messagesIn("module.exports = { content: ['./lib/*.js'] };", installed), []);
});
