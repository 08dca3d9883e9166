import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as prettier from 'prettier';

import { Pieces, piecesOf, settled } from '../../format/pieces.js';

const OPTIONS = { filepath: 'a.tsx', endOfLine: /** @type {const} */ ('lf') };
const WHOLE = `"use client";

import a   from "a"
// One.

/**
 * Two.
 */
// Three.
export default function A({b}) {
  return <p>{ b }</p>
}



const text = \`

const c  = 1
\`
const d =

function () {}

const e = a
(1)
// last
`;

test('a text is cut before statements and the comments right above them', () => {
  assert.deepEqual(
    piecesOf(WHOLE).map((piece) => piece.split('\n')[0]),
    [
      '"use client";',
      'import a   from "a"',
      '/**',
      'const text = `',
      'const c  = 1',
      'function () {}',
      'const e = a',
    ],
  );
});

test('pieces are formatted as the whole is', async () => {
  const pieces = new Pieces();
  const texts = [
    WHOLE,
    WHOLE.replace('const d =\n\nfunction', 'const d =\n function').replace(
      '\n\nconst c',
      'const c',
    ),
    '\n\nimport a from "a"\n\n\n// none\n',
    '// prettier-ignore\n\nconst  a = 1\n\nlet b\n\n;[1]\n\nclass  C {}\n\n@d\n\nclass D {}\n',
    'const a = (\n\nfunction b() {}\n)\n',
  ];
  for (const text of texts) {
    for (const more of [{}, { semi: false }, { singleQuote: true, tabWidth: 4 }]) {
      const options = { ...OPTIONS, ...more };
      const whole = await settled((one) => prettier.format(one, options), text);
      assert.equal(await settled((one) => pieces.format(prettier, one, options), text), whole);
    }
  }
});

test('only what has changed is formatted again', async () => {
  /** @type {string[]} */
  const formatted = [];
  const counted = /** @type {any} */ ({
    /** @param {string} text @param {any} options */
    format(text, options) {
      formatted.push(text);
      return prettier.format(text, options);
    },
  });
  const pieces = new Pieces();
  await pieces.format(counted, 'const a  = 1\n\nconst b = 2\n', OPTIONS);
  formatted.length = 0;
  const result = await pieces.format(counted, 'const a  = 1\n\nconst c = 2\n', OPTIONS);

  assert.equal(result, 'const a = 1;\n\nconst c = 2;\n');
  assert.deepEqual(formatted, ['const c = 2\n']);
});

test('a mistake is told at its place in the whole', async () => {
  const text = 'const a = 1\n\nconst b = (\n';
  const errorOf = async (/** @type {Promise<string>} */ formatting) =>
    formatting.then(assert.fail, (error) => [error.message, error.loc]);

  assert.deepEqual(
    await errorOf(new Pieces().format(prettier, text, OPTIONS)),
    await errorOf(prettier.format(text, OPTIONS)),
  );
});
