import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { fontsPlugin, stylesOf } from '../../fonts/plugin.js';

const FONT = {
  ...{ family: 'Inter Tight', weight: '100 900', style: 'normal', generic: 'sans-serif' },
  ...{ locals: ['Arial', 'Liberation Sans'], size: 107.4, ascent: 90.2, descent: 22.5, gap: 0 },
};

test('a stylesheet has the font, what stands in, and a variable for both', () => {
  assert.equal(
    stylesOf('/shop/fonts/inter.woff2', FONT),
    `@font-face {
  font-family: "Inter Tight"; font-weight: 100 900; font-style: normal; font-display: swap;
  src: url("/shop/fonts/inter.woff2?no-inline") format("woff2");
}
@font-face {
  font-family: "Inter Tight Fallback"; font-weight: 100 900; font-style: normal;
  src: local("Arial"), local("Liberation Sans");
  size-adjust: 107.4%;
  ascent-override: 90.2%; descent-override: 22.5%; line-gap-override: 0%;
}
:root { --font-inter-tight: "Inter Tight", "Inter Tight Fallback", sans-serif; }
`,
  );
});

/** What stands for the Python that reads fonts: the text of a file is the name of its family. */
const PYTHON = `#!${process.execPath}
const family = require('node:fs').readFileSync(process.argv.at(-1), 'utf8');
const font = { ...${JSON.stringify(FONT)}, family };
const problem = { message: 'it is no font', remedy: 'Use a WOFF2 file' };
console.log(JSON.stringify(family === '' ? { problem } : { font }));
`;

test('a font without Latin letters in its name is named after its file', () => {
  const styles = stylesOf('/shop/fonts/body.ttc', { ...FONT, family: '思源黑体' });
  assert.match(styles, /--font-body: "思源黑体"/);
  assert.ok(!styles.includes('format('));
});

test('a font that has changed is read again, also one that could not be read', async (context) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-fonts-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  const [python, file] = [path.join(root, 'python'), path.join(root, 'inter.woff2')];
  fs.writeFileSync(python, PYTHON, { mode: 0o755 });
  fs.writeFileSync(file, '');
  const { load } = /** @type {any} */ (fontsPlugin({ python, root }));
  /** @type {string[]} */
  const watched = [];
  const self = { addWatchFile: (/** @type {string} */ one) => watched.push(one) };
  const code = async (/** @type {string} */ id) => (await load.handler.call(self, id)).code;
  const styles = `\0virtual:fx-font${file}.css`;

  await assert.rejects(code(`${file}?font`), {
    message: 'inter.woff2: it is no font. Use a WOFF2 file.',
  });
  fs.writeFileSync(file, 'Inter');
  assert.match(await code(`${file}?font`), /Inter Fallback/);
  fs.writeFileSync(file, 'Merri"weather');
  assert.match(await code(styles), /"Merriweather Fallback"/);
  assert.deepEqual(watched, [file, file, file]);
});
