/**
 * Find mistakes in the UI halves of page files, and in the components that they import.
 *
 * `check.js` looks at whole projects with it, `../editor/analyst.js` at single files that are
 * being written. The parser is the one that the bundler reads them with.
 */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { conflictsIn } from './conflicts.js';
import { readDeclarations } from './declarations.js';
import { explain } from '../vite/explain.js';
import { Exported } from './imports/exported.js';
import { undefinedNames, withoutTypes } from './names.js';
import { endpointOf, nextMistakes } from './next.js';
import { propertyMistakes } from './properties.js';
import { importedFiles, importedModules, unreached } from './imports/reach.js';
import { islandMistakes } from '../scripts/islands/islands.js';
import { signaturesOf } from './signatures.js';
import { importMistakes } from './imports/specifiers.js';
import { importedStyles, styleMistakes } from './imports/stylesheets.js';
import { tailwindMistakes } from './tailwind.js';
import { boundNames } from './tree.js';
import { usageMistakes } from './usage.js';

/** Files in which names are looked for; other scripts may be older than modules. */
const CHECKED = /\.(fxl|ts|[jt]sx)$/;

/** What imports files whose names it does not say. */
const PATTERN = 'import.meta.glob';

const TOO_DEEP = 'the client code is nested too deeply';

/** What is known of a file that cannot be read. @type {Looked} */
const NOTHING = { problems: [], imported: [], styles: [], resolved: [] };

/**
 * @typedef {import('./names.js').Tools} Tools
 * @typedef {import('./tree.js').Node} Node
 * @typedef {{
 *   path: string, text: string, python: string[], actions: string[] | null,
 *   streams?: string[] | null, shared?: string[] | null,
 * }} File
 * @typedef {{
 *   path: string, line: number, column: number, message: string, remedy: string, certain: boolean,
 *   syntax: boolean,
 * }} Problem
 * @typedef {{
 *   problems: Problem[], imported: string[], styles: string[], resolved: [string, string][],
 * }} Looked `resolved` has the specifier of each import of a file, with that file
 * @typedef {{
 *   toolchain: string, root: string, pages: string, files: File[], shared?: string[] | null,
 * }} Order
 * @typedef {{ declared: Set<string>, looked: Map<string, Looked>, others: Problem[] }} LookedAtAll
 *   `others` are problems of no single file of code
 */

/**
 * Look at a file. What it imports is empty when it is broken.
 *
 * @param {Tools} tools
 * @param {string} root
 * @param {Set<string>} declared
 * @param {File} file
 * @returns {Looked}
 */
export function lookAt(tools, root, declared, file) {
  try {
    return lookInto(tools, root, declared, file);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const wording = { message: TOO_DEEP, remedy: 'Split it into several components or statements' };
    const place = { path: file.path, ...placeOf(file.text, file.text.search(/\S|$/)) };
    return { ...NOTHING, problems: [{ ...place, ...wording, certain: true, syntax: false }] };
  }
}

/**
 * @param {Tools} tools
 * @param {string} root
 * @param {Set<string>} declared
 * @param {File} file
 * @returns {Looked}
 */
function lookInto(tools, root, declared, file) {
  const { path: source, text } = file;
  const lang = languageOf(source);
  const { errors, program, comments } = tools.parse(source, text, { lang });
  const at = (/** @type {number} */ offset) => ({ path: source, ...placeOf(text, offset) });
  if (errors.length > 0) {
    const conflicts = conflictsIn(text).map(({ offset, ...wording }) => ({
      ...{ ...at(offset), ...wording, certain: true, syntax: true },
    }));
    if (conflicts.length > 0) return { ...NOTHING, problems: conflicts };
    const problems = errors.map(({ message, helpMessage, labels }) => {
      const start = labels[0]?.start ?? 0;
      const wording = explain(text, start, message, helpMessage ?? undefined);
      return { ...at(start), ...wording, certain: true, syntax: true };
    });
    return { ...NOTHING, problems };
  }
  const tree = /** @type {any} */ (program);
  const resolved = importedFiles(tree, root, source);
  const imported = importedModules(resolved, root);
  const styles = importedStyles(tree, root, source);
  const exported = tools.modules.get('fx/client') ?? [];
  const plain = withoutTypes(tools, { ...file, lang });
  const wrong = importMistakes(tree, plain.program, { root, source, exported, lack: tools.lack });
  const placed = (
    /** @type {import('./imports/specifiers.js').Mistake} */ { offset, ...wording },
  ) => ({
    ...at(offset),
    ...wording,
    syntax: false,
  });
  if (!CHECKED.test(source)) return { problems: wrong.map(placed), imported, styles, resolved };
  const mistaken = namesAt(tree, new Set(wrong.map(({ offset }) => offset)));
  const rest = { program: tree, comments, declared, mistaken };
  const problems = [...plain.refused, ...wrong, ...mistakesOf(tools, tree, file)].map(placed);
  for (const { offset, name, remedy } of undefinedNames(tools, plain, { ...file, ...rest })) {
    const message = `undefined name '${name}' in client code`;
    problems.push({ ...at(offset), message, remedy, certain: false, syntax: false });
  }
  return { problems, imported, styles, resolved };
}

/**
 * Return the mistakes in what a file does with what it imports.
 *
 * @param {Tools} tools
 * @param {Node} program
 * @param {File} file
 */
function mistakesOf({ signatures }, program, file) {
  return [
    ...usageMistakes(program, file),
    ...propertyMistakes(program, signatures),
    ...nextMistakes(program, file.path),
    ...islandMistakes(program),
  ];
}

/**
 * @param {string} source
 * @returns {import('./names.js').Lang}
 */
function languageOf(source) {
  if (/\.m?ts$/.test(source)) return 'ts';
  if (/\.m?js$/.test(source)) return 'js';
  return source.endsWith('.jsx') ? 'jsx' : 'tsx';
}

/**
 * Return the names that imports bind at one of some places: of the name, or of the module.
 *
 * @param {Node} program
 * @param {Set<number>} offsets
 * @returns {Set<string>}
 */
function namesAt(program, offsets) {
  const imports = program.body.filter((/** @type {Node} */ one) => one.specifiers && one.source);
  return new Set(
    imports.flatMap((/** @type {Node} */ { source, specifiers }) =>
      specifiers
        .filter((/** @type {Node} */ one) => offsets.has(source.start) || offsets.has(one.start))
        .map((/** @type {Node} */ one) => one.local.name),
    ),
  );
}

/**
 * Return what is known of files, and of all that they import.
 *
 * @param {Tools} tools
 * @param {Order} order
 * @param {typeof lookAt} look
 * @returns {LookedAtAll}
 */
export function lookAtAll(tools, { root, pages, files, shared = null }, look = lookAt) {
  const declared = readDeclarations(tools, root);
  const waiting = [...files];
  /** @type {Map<string, Looked>} */
  const looked = new Map(files.map(({ path: source }) => [source, NOTHING]));
  /** @type {Set<string>} */
  const styles = new Set();
  for (const file of waiting) {
    const found = look(tools, root, declared, { ...file, shared });
    looked.set(file.path, found);
    for (const source of found.styles) styles.add(source);
    for (const source of found.imported.filter((one) => !looked.has(one))) {
      looked.set(source, NOTHING);
      waiting.push(readModule(root, source));
    }
  }
  /** @type {Problem[]} */
  const others = [];
  for (const { offset, text, ...wording } of styleMistakes(root, styles)) {
    others.push({ ...wording, ...placeOf(text, offset), certain: true, syntax: true });
  }
  const sources = files.map((file) => file.path);
  for (const { offset, text, ...wording } of tailwindMistakes(tools, root, pages, sources)) {
    others.push({ ...wording, ...placeOf(text, offset), certain: false, syntax: false });
  }
  // Who imports by a pattern may mean any file.
  if (!waiting.some(({ text }) => text.includes(PATTERN))) {
    others.push(...strayPages(tools, root, unreached(root, pages, new Set(looked.keys()))));
  }
  return { declared, looked, others };
}

/**
 * Return what is known after some of the files have other texts, and nothing else has changed;
 * undefined when all must be looked at again, because they lead elsewhere.
 *
 * @param {Tools} tools
 * @param {Order} order
 * @param {File[]} changed
 * @param {LookedAtAll} known
 * @returns {LookedAtAll | undefined}
 */
export function lookAtChanged(tools, { root, files, shared = null }, changed, known) {
  const texts = new Map(files.map(({ path: source, text }) => [source, text]));
  const looked = new Map(known.looked);
  const leads = (/** @type {Looked} */ { imported, styles }, text = '') =>
    JSON.stringify([imported, styles, text.includes(PATTERN)]);
  for (const file of changed) {
    const before = looked.get(file.path) ?? NOTHING;
    const found = lookAt(tools, root, known.declared, { ...file, shared });
    if (leads(before, texts.get(file.path)) !== leads(found, file.text)) return undefined;
    looked.set(file.path, found);
  }
  return { ...known, looked };
}

/**
 * @param {LookedAtAll} found
 * @returns {Problem[]}
 */
export function listed({ looked, others }) {
  return [...[...looked.values()].flatMap(({ problems }) => problems), ...others];
}

/**
 * Return the files among `sources` that look like pages: components that nothing imports.
 *
 * @param {Tools} tools
 * @param {string} root
 * @param {string[]} sources
 * @returns {Problem[]}
 */
function strayPages(tools, root, sources) {
  return sources.flatMap((source) => {
    const { text } = readModule(root, source);
    const { program } = tools.parse(source, text, { lang: languageOf(source) });
    const tree = /** @type {any} */ (program);
    const found = endpointOf(tree, source) ?? componentOf(tree, source);
    if (found === undefined) return [];
    const { start, message, remedy } = found;
    const place = { path: source, ...placeOf(text, start) };
    return { ...place, message, remedy, certain: false, syntax: false };
  });
}

/**
 * @param {Node} program
 * @param {string} source
 */
function componentOf({ body }, source) {
  const found = body.find((/** @type {Node} */ one) => one.type === 'ExportDefaultDeclaration');
  if (found === undefined || !/\.[jt]sx$/.test(source)) return undefined;
  const stem = path.posix.basename(source).replace(/\.\w+$/, '');
  const name = `${stem === 'page' ? 'index' : stem}.fxl`; // Next.js calls it so
  const remedy = `Rename it to '${name}' to make it one`;
  return { start: found.start, message: 'nothing imports it, and it is not a page', remedy };
}

/**
 * @param {string} root
 * @param {string} source
 * @returns {File}
 */
function readModule(root, source) {
  const text = fs.readFileSync(path.join(root, source), 'utf8');
  return { path: source, text, python: [], actions: null };
}

/**
 * Return line and column, both from 1, columns in characters.
 *
 * @param {string} text
 * @param {number} offset in UTF-16 units
 */
export function placeOf(text, offset) {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}

/**
 * @param {string} toolchain
 * @returns {Promise<Tools>}
 */
export async function loadTools(toolchain) {
  const require = createRequire(path.join(toolchain, 'package.json'));
  const bundler = createRequire(require.resolve('vite'));
  const load = (/** @type {string} */ name) => import(pathToFileURL(bundler.resolve(name)).href);
  const { parseSync, transformSync } = await load('rolldown/utils');
  const { ResolverFactory } = await load('rolldown/experimental');
  const { browser, builtin, nodeBuiltin } = require('globals');
  const client = fileURLToPath(new URL('../client/index.d.ts', import.meta.url));
  const { program } = parseSync(client, fs.readFileSync(client, 'utf8'), { lang: 'dts' });
  return {
    parse: parseSync,
    lack: new Exported(parseSync, toolchain, ResolverFactory).lack,
    transform: transformSync,
    analyze: require('eslint-scope').analyze,
    matcher: bundler('picomatch'),
    signatures: signaturesOf(/** @type {any} */ (program)),
    globals: new Set(Object.keys({ ...browser, ...builtin, ...nodeBuiltin })),
    modules: new Map([
      ['fx/client', program.body.flatMap((/** @type {Node} */ one) => boundNames(one.declaration))],
      ['react', Object.keys(require('react')).filter((name) => !name.startsWith('__'))],
    ]),
  };
}
