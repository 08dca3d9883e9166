import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { nodesOf } from '../../check/tree.js';
import { movedTo } from '../../editor/places.js';
import { Trees } from '../../editor/trees.js';
import { loadTools } from '../../check/checker.js';

const tools = await loadTools(fileURLToPath(new URL('../..', import.meta.url)));

/** @param {string} text */
function parse(text) {
  const { errors, program } = tools.parse('a.tsx', text, { lang: 'tsx', range: true });
  return errors.length > 0 ? null : /** @type {any} */ (program);
}

const TEXT = [
  "'use client';\n// One\nimport { Link } from 'fx/client';",
  'const made = <Link href="/a">ü😀</Link>;',
  'function Same() {\n  return <Link href="/a" />;\n}',
  'function Same() {\n  return <Link href="/a" />;\n}',
  'const text = `a\n\nb`;\n',
  'export default function Page({ data }: { data: string[] }) {\n\n  return data.map((a) => a);\n}\n',
].join('\n\n');

/** @param {import('../../check/tree.js').Node[]} nodes */
const placesOf = (nodes) => nodes.map((one) => `${one.type} ${one.start} ${one.end}`).sort();

test('a text that is edited has the tree of a text that is read as a whole', () => {
  const trees = new Trees(parse);
  for (let at = 0; at < TEXT.length; at += 7) {
    for (const text of [TEXT, `${TEXT.slice(0, at)} ${TEXT.slice(at)}`, TEXT.slice(at)]) {
      const [tree, whole] = [trees.of(text), parse(text)];
      if (whole === null || tree === null) {
        assert.equal(tree, whole, text);
        continue;
      }
      assert.deepEqual(placesOf(tree.nodes), placesOf(nodesOf(whole).slice(1)));
      const [link] = tree.elements.get('Link') ?? [];
      if (link !== undefined) assert.equal(text[link.start], '<');
      for (const node of tree.nodes) {
        const holder = /** @type {any} */ (tree.parents.get(node));
        assert.ok(holder.start <= node.start && node.end <= holder.end, node.type);
      }
    }
  }
});

test('an edit has one statement parsed again, which a whole parse would not need', () => {
  /** @type {string[]} */
  const parsed = [];
  const trees = new Trees((text) => {
    parsed.push(text);
    return parse(text);
  });
  trees.of(TEXT);
  parsed.length = 0;

  const edited = TEXT.replace('const made', 'const other');
  trees.of(edited);
  trees.of(TEXT);
  trees.of(edited);

  assert.deepEqual(parsed, ['const other = <Link href="/a">ü😀</Link>;\n']);
});

test('what looks like a statement in a template is none', () => {
  const text = 'const a = `\n\nconst b = 1;\n`;\n\nconst c = a.d;';

  const tree = new Trees(parse).of(text);

  assert.equal(tree?.program.body.length, 2);
});

test('a place keeps what it had, above and below an edit', () => {
  const [before, text] = ['one\ntwo\nthree', 'one\ntw{o\nthree'];

  assert.equal(movedTo(text, before)(2), 2);
  assert.equal(movedTo(text, before)(text.indexOf('three')), before.indexOf('three'));
  assert.equal(movedTo('one\nxx{xo\nthree', before)(6), null);
  assert.equal(movedTo(text, text)(text.length), text.length);
});
