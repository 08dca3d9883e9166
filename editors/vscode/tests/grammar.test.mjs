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
const loaded = await registry.loadGrammar('source.fxl');
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
      const told = line.filter((token) => token.text.trim() !== '');
      if (told.length === 0) return ' ';
      const isPython = told.every(({ scopes }) => scopes.includes('meta.embedded.block.python'));
      const isUi = told.every(({ scopes }) => scopes.includes('meta.embedded.block.tsx'));
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
    assert.deepEqual(told(text, halves(text)), told(text, expected));
  });
}

/**
 * @param {string} text
 * @param {string} marks
 */
function told(text, marks) {
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
