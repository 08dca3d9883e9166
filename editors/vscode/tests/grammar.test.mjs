import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');

const HERE = fileURLToPath(new URL('..', import.meta.url));
const ROOT = path.join(HERE, '..', '..');
const GRAMMARS = path.dirname(require.resolve('tm-grammars/grammars/python.json'));

const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));

/** @type {Record<string, string>} */
const FILES = {
  'source.fxl': path.join(HERE, 'syntaxes', 'fxl.tmLanguage.json'),
  'source.python': path.join(GRAMMARS, 'python.json'),
  'source.tsx': path.join(GRAMMARS, 'tsx.json'),
};

const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (/** @type {string[]} */ sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (/** @type {string} */ text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (/** @type {string} */ scope) => {
    const file = FILES[scope];
    return file === undefined
      ? null
      : textmate.parseRawGrammar(fs.readFileSync(file, 'utf8'), `${scope}.json`);
  },
});
/** What the editor is told of the grammar beside its rules. */
const [contributed] = require('../package.json').contributes.grammars;
/** The languages whose brackets and comments a place has; the number of each is its index. */
const LANGUAGES = ['', 'fxl', 'python', 'typescriptreact', 'jsx-tags'];
const loaded = await registry.loadGrammarWithConfiguration('source.fxl', 1, {
  embeddedLanguages: Object.fromEntries(
    Object.entries(contributed.embeddedLanguages).map(([scope, language]) => [
      scope,
      LANGUAGES.indexOf(String(language)),
    ]),
  ),
  tokenTypes: {},
  balancedBracketSelectors: ['*'],
  unbalancedBracketSelectors: contributed.unbalancedBracketScopes,
});
assert.ok(loaded !== null);
const grammar = loaded;

/**
 * Return the scopes of all tokens, by line.
 *
 * @param {string} text
 * @returns {{ text: string, scopes: string[] }[][]}
 */
function tokens(text) {
  let state = textmate.INITIAL;
  return text.split('\n').map((line) => {
    const found = grammar.tokenizeLine(line, state);
    state = found.ruleStack;
    return found.tokens.map(
      (/** @type {{ startIndex: number, endIndex: number, scopes: string[] }} */ token) => ({
        text: line.slice(token.startIndex, token.endIndex),
        scopes: token.scopes,
      }),
    );
  });
}

/**
 * Return the half that each line is coloured as: 'P', 'U', or ' ' for a blank one.
 *
 * @param {string} text
 * @returns {string}
 */
function halves(text) {
  return tokens(text)
    .map((line) => {
      const visible = line.filter((token) => token.text.trim() !== '');
      if (visible.length === 0) return ' ';
      const isPython = visible.every(({ scopes }) => scopes.includes('meta.embedded.block.python'));
      const isUi = visible.every(({ scopes }) => scopes.includes('meta.embedded.block.tsx'));
      return isPython ? 'P' : isUi ? 'U' : '?';
    })
    .join('');
}

/** All pages, with the half of each line as the compiler divides them. */
const pages = JSON.parse(
  execFileSync(process.env.PYTHON ?? 'python3', [path.join(HERE, 'tests', 'pages.py'), ROOT], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
);

test('there are pages to look at', () => {
  assert.ok(pages.length > 40, `${pages.length} pages`);
});

for (const { path: name, text, halves: expected } of pages) {
  test(`both halves of ${name} are told apart as the compiler does`, () => {
    assert.deepEqual(marked(text, halves(text)), marked(text, expected));
  });
}

/**
 * @param {string} text
 * @param {string} marks
 */
function marked(text, marks) {
  return text.split('\n').map((line, index) => `${marks[index]} ${line}`);
}

test('names have the scopes of their languages', () => {
  const text = [
    '@server',
    'async def load(request):',
    '    return {"a": f"{x}"}',
    'export default function Page({ data }) {',
    '  return <Link href="/">{data.a}</Link>;',
    '}',
  ].join('\n');
  const found = tokens(text).flat();
  /** @param {string} wanted */
  const scopesOf = (wanted) => found.find((token) => token.text === wanted)?.scopes.join(' ') ?? '';

  assert.match(
    scopesOf('def'),
    /storage\.type\.function\.async\.python|storage\.type\.function\.python/,
  );
  assert.match(scopesOf('load'), /entity\.name\.function\.python/);
  assert.match(scopesOf('Page'), /entity\.name\.function\.tsx/);
  assert.match(scopesOf('Link'), /support\.class\.component\.tsx/);
  assert.match(scopesOf('href'), /entity\.other\.attribute-name\.tsx/);
});

test('what stands in strings does not end a half', () => {
  const text = 'TEXT = """\nexport const x = 1;\n"""\nconst t = `\ndef f():\n`;\n@server\n';

  assert.equal(halves(text), 'PPPUUUP ');
});

test('behind the line that divides a page all is UI code', () => {
  assert.equal(halves('x = 1\n# --- ui ---\ndef(1)\nA = 2;\n'), 'P?UU ');
});

/** Bits of what vscode-textmate tells of a token (`encodedTokenAttributes.ts` there). */
const LANGUAGE = 0xff;
const BRACKETS = 0x400;

/**
 * Return the language at each character of a page, and whether brackets there come in pairs.
 *
 * @param {string} text
 * @returns {{ language: string, pairs: boolean }[][]}
 */
function places(text) {
  let state = textmate.INITIAL;
  return text.split('\n').map((line) => {
    const found = grammar.tokenizeLine2(line, state);
    state = found.ruleStack;
    return [...line].map((_, column) => {
      const starts = [...found.tokens.keys()].filter((at) => at % 2 === 0);
      const last = starts.findLast((at) => found.tokens[at] <= column) ?? 0;
      const bits = found.tokens[last + 1];
      return { language: LANGUAGES[bits & LANGUAGE], pairs: (bits & BRACKETS) !== 0 };
    });
  });
}

test('comments and brackets at each place are those of its language', () => {
  const lines = [
    'A = [1 for x in y if x > 1]',
    'const f = (x) => x > 1;',
    'export default function Page({ data }) {',
    '  return <p className="a">{data.a}</p>;',
    '}',
  ];
  const found = places(lines.join('\n'));
  /**
   * @param {number} line
   * @param {string} mark
   */
  const at = (line, mark) => found[line][lines[line].indexOf(mark)];

  assert.deepEqual(at(0, '['), { language: 'python', pairs: true });
  assert.deepEqual(at(1, '('), { language: 'typescriptreact', pairs: true });
  assert.equal(at(1, '> x').pairs, false, 'an arrow');
  assert.equal(at(1, '> 1').pairs, false, 'a comparison');
  assert.deepEqual(at(3, 'p '), { language: 'jsx-tags', pairs: true });
  assert.equal(at(3, 'className').language, 'typescriptreact');
  assert.equal(at(3, 'data').language, 'typescriptreact');
  assert.equal(at(3, '/p').language, 'jsx-tags');
});
