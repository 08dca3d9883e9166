/**
 * Find mistakes in the UI halves of page files: `node check.js`, `{toolchain, root, files}` as
 * JSON on stdin, `{problems}` as JSON on stdout's last line.
 *
 * Started by `fxtrio/compile/ui.py`. The parser is the one that the bundler reads them with.
 */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { declaredNames } from './ambient.js';
import { undefinedNames, withoutTypes } from './names.js';
import { importMistakes } from './specifiers.js';
import { boundNames } from './tree.js';
import { usageMistakes } from './usage.js';

/**
 * @typedef {import('./names.js').Tools} Tools
 * @typedef {import('./tree.js').Node} Node
 * @typedef {{ path: string, text: string, python: string[], actions: string[] | null }} File
 * @typedef {{ path: string, line: number, column: number, message: string, remedy: string }} Problem
 * @typedef {{ toolchain: string, root: string, files: File[] }} Order
 */

/**
 * @param {Tools} tools
 * @param {string} root
 * @param {Set<string>} declared
 * @param {File} file
 * @returns {Problem[]}
 */
function problemsOf(tools, root, declared, file) {
  const { path: source, text } = file;
  const { errors, program, comments } = tools.parse(`${source}.tsx`, text, { lang: 'tsx' });
  const at = (/** @type {number} */ offset) => ({ path: source, ...placeOf(text, offset) });
  if (errors.length > 0) {
    return errors.map(({ message, helpMessage, labels }) => ({
      ...at(labels[0]?.start ?? 0),
      message: `broken UI code: ${message}`,
      remedy: hintFor(text, labels[0]?.start ?? 0) ?? helpMessage ?? 'Correct the UI code here',
    }));
  }
  const tree = /** @type {any} */ (program);
  const exported = tools.modules.get('fx/client') ?? [];
  const plain = withoutTypes(tools, file);
  const mistakes = [
    ...importMistakes(tree, plain.program, { root, source, exported }),
    ...usageMistakes(tree, file.actions),
  ];
  const names = undefinedNames(tools, plain, { ...file, program: tree, comments, declared });
  return [
    ...mistakes.map(({ offset, message, remedy }) => ({ ...at(offset), message, remedy })),
    ...names.map(({ offset, name, remedy }) => ({
      ...at(offset),
      message: `undefined name '${name}' in UI code`,
      remedy,
    })),
  ];
}

/**
 * Return what to do about code of another language, undefined for other mistakes.
 *
 * @param {string} text
 * @param {number} offset of the mistake
 */
function hintFor(text, offset) {
  const around = text.slice(Math.max(0, offset - 2), offset + 2);
  if (/\{[%{]/.test(around)) return 'There are no template tags: write {list.map((item) => …)}';
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 1);
  if (/^\s*#/.test(line)) return "A comment begins with '//' in the UI half";
  return undefined;
}

/**
 * Return line and column, both from 1, columns in characters.
 *
 * @param {string} text
 * @param {number} offset in UTF-16 units
 */
function placeOf(text, offset) {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}

/**
 * @param {string} toolchain
 * @returns {Promise<Tools>}
 */
async function loadTools(toolchain) {
  const require = createRequire(path.join(toolchain, 'package.json'));
  const bundler = createRequire(require.resolve('vite'));
  const { parseSync, transformSync } = await import(
    pathToFileURL(bundler.resolve('rolldown/utils')).href
  );
  const { browser, builtin, nodeBuiltin } = require('globals');
  const client = fileURLToPath(new URL('../client/index.d.ts', import.meta.url));
  const { program } = parseSync(client, fs.readFileSync(client, 'utf8'), { lang: 'dts' });
  return {
    parse: parseSync,
    transform: transformSync,
    analyze: require('eslint-scope').analyze,
    globals: new Set(Object.keys({ ...browser, ...builtin, ...nodeBuiltin })),
    modules: new Map([
      ['fx/client', program.body.flatMap((/** @type {Node} */ one) => boundNames(one.declaration))],
      ['react', Object.keys(require('react')).filter((name) => !name.startsWith('__'))],
    ]),
  };
}

/**
 * Return what the project's declaration files make known.
 *
 * @param {Tools} tools
 * @param {string} folder
 * @returns {Set<string>}
 */
function readDeclarations(tools, folder) {
  /** @type {Set<string>} */
  const names = new Set();
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && !/^(\.|node_modules$|__pycache__$|venv$)/.test(entry.name)) {
      for (const name of readDeclarations(tools, file)) names.add(name);
    } else if (entry.isFile() && entry.name.endsWith('.d.ts')) {
      const { program } = tools.parse(file, fs.readFileSync(file, 'utf8'), { lang: 'dts' });
      for (const name of declaredNames(/** @type {any} */ (program))) names.add(name);
    }
  }
  return names;
}

const parts = [];
for await (const part of process.stdin) parts.push(part);
/** @type {Order} */
const { toolchain, root, files } = JSON.parse(Buffer.concat(parts).toString('utf8'));
const tools = await loadTools(toolchain);
const declared = readDeclarations(tools, root);
const problems = files.flatMap((file) => problemsOf(tools, root, declared, file));
process.stdout.write(`\n${JSON.stringify({ problems })}\n`);
