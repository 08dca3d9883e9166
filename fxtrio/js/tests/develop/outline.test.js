import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseSync } from 'vite';

import { outlineOf } from '../../develop/updates/outline.js';

/** @param {string} text */
function outline(text) {
  const parsed = parseSync('page.tsx', text, { lang: 'tsx' });
  assert.deepEqual(parsed.errors, [], text);
  return outlineOf(text, parsed);
}

/** @type {[string, string, string][]} */
const ALIKE = [
  ['words of a text', '<h1>One</h1>', '<h1>Two words, and it’s done. 1 of 2</h1>'],
  ['lines of a text', '<p>One two</p>', '<p>\n  One\n  two\n</p>'],
  ['white space between elements', '<p>\n  <b />\n</p>', '<p>\n\n    <b />\n</p>'],
  ['classes', '<p className="a">x</p>', '<p className="a md:w-[calc(100%-1px)] b/50">x</p>'],
  ['words of a comment', 'f(/* one */ 1); // two', 'f(/* 1 */ 1); // 2'],
  ['white space of code', 'const a  =\n\n\t 1;', 'const a =\n 1;'],
];

/** @type {[string, string, string][]} */
const OTHERS = [
  ['code', '<p>{data.a}</p>', '<p>{data.b}</p>'],
  ['a text that comes', '<p></p>', '<p>x</p>'],
  ['a space that is a text', '<p>{a}{b}</p>', '<p>{a} {b}</p>'],
  ['white space that is a text', '<p> </p>', '<p>\n</p>'],
  ['a space without a width', '<p>\n</p>', '<p>\n\u00a0</p>'],
  ['a string', 'f("a")', 'f("b")'],
  ['white space in a string', 'f("a")', 'f("a ")'],
  ['white space in a template', 'f(`a b`)', 'f(`a  b`)'],
  ['white space in a regular expression', 'f(/a b/)', 'f(/a  b/)'],
  ['an attribute of a component', '<Card className="a" />', '<Card className="b" />'],
  ['another attribute', '<input name="a" />', '<input name="b" />'],
  ['an element of its own', '<my-box className="a" />', '<my-box className="b" />'],
  ['an expression', '<p className={"a"} />', '<p className={"b"} />'],
  ['a key', 'f({ "a": 1 })', 'f({ "b": 1 })'],
  ['an end of a line', 'const a = b\n(c)', 'const a = b (c)'],
  ['the start of a line', 'if (a) {\n  f();\n}', 'if (a) {\nf();\n}'],
  ['a comment that comes', 'f(1)', 'f(/* one */ 1)'],
  ['a line in a comment', 'f(/* a b */)', 'f(/* a\n b */)'],
  ['a type in a comment', '/** @type {string} */ let a', '/** @type {number} */ let a'],
  ['what is below a directive', '// @ts-ignore\n<p>a</p>', '// @ts-ignore\n<p>b</p>'],
  ['a global in a comment', '/* global a */ f(a)', '/* global b */ f(a)'],
  ['a comment about words', '// eslint-disable a', '// eslint-disable b'],
  ['the name of a component in a text', '<p>a<Row /></p>', '<p>Row<Row /></p>'],
  ['words that patterns look for', '<p>a</p>', '<p>export</p>'],
  ['a declaration in a comment', '// a', '// <Slot name="a">'],
];

for (const [name, before, after] of ALIKE) {
  test(`${name} may be others`, () => assert.equal(outline(before), outline(after)));
}

for (const [name, before, after] of OTHERS) {
  test(`${name} makes another outline`, () => assert.notEqual(outline(before), outline(after)));
}

test('what stands for words cannot be written', () => {
  assert.notEqual(outline('<p>text{"" /**/}</p>'), outline('<p>{"text" /**/}</p>'));
});

test('a text that is nested too deeply has no outline', () => {
  const parsed = {
    comments: [],
    get program() {
      throw new RangeError('Maximum call stack size exceeded');
    },
  };
  assert.equal(outlineOf('', parsed), null);
});
