import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseSync } from 'vite';

import { explain } from '../../vite/explain.js';

/** Broken code, and what to do about it. */
const CASES = [
  ['foo(', 'Write `)` at the end'],
  ['if (x {', "Write `)` before '{'"],
  ['x = {a: 1, b 2}', "Write `,` or `}` before '2'"],
  ['<div><p></div>', "Write '</p>' before '</div>'"],
  ["let x = 'abc", 'Write the quote that closes it'],
  [
    'const a = <p>{x</p>',
    "Write the '}' before a closing tag, or the '/' that ends the expression",
  ],
  ['let 1a = 2', "Begin a name with a letter, '_' or '$'"],
  ['return 1', 'Move it into a function'],
  ["'\\u{zzz}'", "Write '\\\\' for a backslash"],
  ['1 = 2', 'Assign to a variable or to a property'],
  ['x = 0b2', 'Remove the character, or write it in a string'],
  ['const x = ;', "Write what is missing before ';', or remove ';'"],
  ['x = 1 +', "Complete the code: something is missing after '+'"],
];

for (const [code, remedy] of CASES) {
  test(`what to do about ${code}`, () => {
    const text = `${code}\n`;
    const [error] = parseSync('page.tsx', text, { lang: 'tsx' }).errors;
    const { message, helpMessage, labels } = error;
    const start = labels[0]?.start ?? 0;
    assert.equal(explain(text, start, message, helpMessage ?? undefined).remedy, remedy);
  });
}

test('JSX needs a file whose name says so', () => {
  const text = 'export const A = () => <b>a</b>;\n';
  const [error] = parseSync('a.js', text, { lang: 'js' }).errors;
  assert.deepEqual(explain(text, error.labels[0]?.start ?? 0, error.message), {
    message: 'JSX in a file that ends neither with .jsx nor with .tsx',
    remedy: 'Rename the file so that it ends with .jsx',
  });
});
