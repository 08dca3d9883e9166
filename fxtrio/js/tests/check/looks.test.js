import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';
import { Looks, ProjectLooks } from '../../develop/checks/looks.js';

const TOOLCHAIN = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = "import { Card } from './_card';\n\nexport default () => <Card />;\n";

/**
 * A project of one page, and a function that looks at it and returns what was parsed.
 *
 * @param {import('node:test').TestContext} context
 */
async function makeProject(context) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-looks-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  fs.mkdirSync(path.join(root, 'pages'));
  const write = (/** @type {string} */ name, text = 'export const Card = () => null;\n') =>
    fs.writeFileSync(path.join(root, 'pages', name), text);
  const tools = await loadTools(TOOLCHAIN);
  const { parse } = tools;
  const parsed = { count: 0 };
  const counting = {
    ...tools,
    parse: (/** @type {Parameters<typeof parse>} */ ...order) => {
      parsed.count += 1;
      return parse(...order);
    },
  };
  const { look } = new Looks();
  const python = /** @type {string[]} */ ([]);
  const file = { path: 'pages/index.fxl', text: PAGE, python, actions: [] };
  const lookAgain = (order = file, /** @type {string[]} */ declared = []) => {
    const before = parsed.count;
    const { problems } = look(counting, root, new Set(declared), order);
    return { isParsed: parsed.count > before, problems: problems.length };
  };
  return { root, write, file, lookAgain };
}

test('a file without a mistake is looked at once', async (t) => {
  const { write, file, lookAgain } = await makeProject(t);
  write('_card.jsx');
  assert.deepEqual(lookAgain(), { isParsed: true, problems: 0 });
  assert.deepEqual(lookAgain(), { isParsed: false, problems: 0 });
  assert.equal(lookAgain({ ...file, text: `${PAGE}// more` }).isParsed, true);
  assert.equal(lookAgain({ ...file, python: ['Card'] }).isParsed, true);
  assert.equal(lookAgain({ ...file, python: ['Card'] }, ['absent']).isParsed, true);
});

test('a file is looked at again when its imports mean other files, or none', async (t) => {
  const { root, write, lookAgain } = await makeProject(t);
  write('_card.jsx');
  lookAgain();
  write('_card.js');
  assert.deepEqual(lookAgain(), { isParsed: true, problems: 0 });
  for (const name of ['_card.js', '_card.jsx']) fs.unlinkSync(path.join(root, 'pages', name));
  assert.deepEqual(lookAgain(), { isParsed: true, problems: 1 });
  write('_card.tsx');
  assert.deepEqual(lookAgain(), { isParsed: true, problems: 0 });
});

test('an order of what has changed is answered as a whole one would be', async (t) => {
  const { root, write, file } = await makeProject(t);
  write('_card.jsx');
  const looks = new ProjectLooks(await loadTools(TOOLCHAIN));
  const other = {
    ...file,
    path: 'pages/other.fxl',
    text: 'export default () => <p>{absent}</p>;\n',
  };
  const messages = (/** @type {any} */ order) => {
    const { problems, unknown } = looks.answer(order);
    return unknown ? 'unknown' : problems.map(({ path: place, message }) => [place, message]);
  };
  const absent = ['pages/other.fxl', "undefined name 'absent' in client code"];
  const changed = (/** @type {string} */ text) => ({ changed: [{ ...file, text }] });
  assert.equal(messages(changed(PAGE)), 'unknown');
  assert.deepEqual(messages({ root, pages: 'pages', files: [file, other] }), [absent]);
  assert.deepEqual(messages(changed(`${PAGE}lost;\n`)), [
    ['pages/index.fxl', "undefined name 'lost' in client code"],
    absent,
  ]);
  assert.deepEqual(messages(changed(PAGE)), [absent]);
  // Nothing imports the component any more: a problem of another file.
  const alone = 'export default () => null;\n';
  write('card.jsx', 'export default () => null;\n');
  const imported = PAGE.replace('_card', 'card').replace('{ Card }', 'Card');
  assert.deepEqual(messages(changed(imported)), [absent]);
  assert.deepEqual(messages(changed(alone)), [
    absent,
    ['pages/card.jsx', 'nothing imports it, and it is not a page'],
  ]);
  assert.deepEqual(messages({ changed: [{ ...other, text: alone }] }), [
    ['pages/card.jsx', 'nothing imports it, and it is not a page'],
  ]);
});
