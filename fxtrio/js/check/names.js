/**
 * Names in the UI half of a page file that nothing defines.
 *
 * Types are taken away by the bundler's own transform, so what is left is what runs; scopes
 * are told by `eslint-scope`. Called by `check.js`.
 */

import { SourceMap } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

import { explain } from '../vite/explain.js';
import { ambientNames } from './ambient.js';
import { similar } from './similar.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {'tsx' | 'ts' | 'jsx' | 'js'} Lang */
/** @typedef {{ name: string, offset: number, remedy: string }} UndefinedName */

/**
 * What comes with the toolchain.
 *
 * @typedef {object} Tools
 * @property {typeof import('rolldown/utils').parseSync} parse
 * @property {typeof import('rolldown/utils').transformSync} transform
 * @property {typeof import('eslint-scope').analyze} analyze
 * @property {import('./imports/specifiers.js').Lack} lack
 * @property {(patterns: string[], options: { ignore: string[] }) => (path: string) => boolean} matcher
 * @property {Set<string>} globals what browsers, Node and the language define
 * @property {Map<string, import('./signatures.js').Signature>} signatures of `fx/client`
 * @property {Map<string, string[]>} modules what `fx/client` and `react` export
 */

/**
 * Words of Python.
 *
 * @type {Record<string, string>}
 */
const WORDS = { True: 'true', False: 'false', None: 'null', len: '.length', str: 'String(…)' };

/** What the bundler replaces or wraps. */
const REPLACED = ['require', 'module', 'exports'];

/**
 * What is left of a file without its types.
 *
 * @typedef {object} Plain
 * @property {Node} program its tree; an empty one where there are `errors`
 * @property {unknown[]} errors
 * @property {import('./imports/specifiers.js').Mistake[]} refused what the transform
 *   calls no program although it has been parsed: a name that is declared twice
 * @property {(node: Node) => number} offsetOf leads from its nodes to offsets in the file
 */

/**
 * Return what of a file runs.
 *
 * @param {Tools} tools
 * @param {{ path: string, text: string, lang: Lang }} file without syntax errors
 * @returns {Plain}
 */
export function withoutTypes({ parse, transform }, { path, text, lang }) {
  const done = transform(path, text, { lang, jsx: 'preserve', sourcemap: true });
  if (!done.map) {
    const { program } = parse(`${path}.jsx`, '', { lang: 'jsx', range: true });
    const refused = done.errors.map((error) => refusal(text, error));
    const { errors } = done;
    return { program: /** @type {any} */ (program), errors, refused, offsetOf: () => 0 };
  }
  // The transform prints `(<A />).b` without its parentheses, which is no syntax.
  const { program, errors } = parse(`${path}.jsx`, done.code, { lang: 'jsx', range: true });
  /** Read when it is needed: most files have no mistakes. @type {ReturnType<typeof read> | undefined} */
  let places;
  const read = () => ({
    map: new SourceMap(JSON.parse(JSON.stringify(done.map))),
    starts: lineStarts(text),
  });
  return {
    program: /** @type {any} */ (program),
    errors: [...done.errors, ...errors],
    refused: [],
    offsetOf: (node) => {
      places ??= read();
      const before = done.code.slice(0, node.start).split('\n');
      const found = places.map.findEntry(before.length - 1, before[before.length - 1].length);
      if (!('originalLine' in found)) return 0;
      return places.starts[found.originalLine] + found.originalColumn;
    },
  };
}

/**
 * Return what the transform says, as the bundler's mistakes are explained.
 *
 * @param {string} text
 * @param {{ message: string, pos?: number }} error
 */
function refusal(text, { message, pos: offset = 0 }) {
  const plain = stripVTControlCharacters(message).replace(/^\[\w+\] /, '');
  return { ...explain(text, offset, plain.split('\n')[0]), offset, certain: true };
}

/**
 * Return the undefined names of a file, by place.
 *
 * @param {Tools} tools
 * @param {Plain} plain
 * @param {object} file
 * @param {Node} file.program its tree, with types
 * @param {readonly { value: string }[]} file.comments
 * @param {string[]} file.python names that the Python half defines
 * @param {string[] | null} file.actions those of its names that are actions
 * @param {Set<string>} file.declared names that declaration files make known
 * @param {Set<string>} file.mistaken names of imports that are mistakes themselves
 * @returns {UndefinedName[]}
 */
export function undefinedNames(tools, plain, file) {
  const scopes = tools.analyze(/** @type {any} */ (plain.program), {
    ecmaVersion: 2025,
    sourceType: 'module',
    jsx: true,
    fallback: 'iteration',
  });
  const known = ambientNames(file.program, file.comments);
  for (const name of REPLACED) known.add(name);
  /** @type {UndefinedName[]} */
  const found = [];
  const references = /** @type {any[]} */ (scopes.globalScope?.through ?? []);
  for (const { identifier, from } of references) {
    const { name } = identifier;
    if (known.has(name) || tools.globals.has(name) || file.declared.has(name)) continue;
    const inScope = namesIn(from).filter((one) => !file.mistaken.has(one));
    const remedy = file.actions?.includes(name)
      ? `Write its name as text: '${name}'`
      : remedyFor(name, inScope, tools.modules, file.python);
    found.push({ name, offset: plain.offsetOf(identifier), remedy });
  }
  return found.sort((one, other) => one.offset - other.offset);
}

/** @param {string} text */
function lineStarts(text) {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/**
 * Return all names that can be used where a scope is, the innermost first.
 *
 * @param {any} from
 */
function namesIn(from) {
  /** @type {string[]} */
  const names = [];
  for (let scope = from; scope !== null; scope = scope.upper) names.push(...scope.set.keys());
  return names.filter((name) => name !== 'arguments');
}

/**
 * Return what to do about an undefined name, without a full stop.
 *
 * @param {string} name
 * @param {string[]} inScope
 * @param {Map<string, string[]>} modules
 * @param {string[]} python
 */
function remedyFor(name, inScope, modules, python) {
  if (Object.hasOwn(WORDS, name)) return `Write ${WORDS[name]}`;
  if (python.includes(name)) {
    return `It is a name of the server half: return it from the loader, and write 'data.${name}'`;
  }
  for (const [module, names] of modules) {
    if (names.includes(name)) return `Write import { ${name} } from '${module}'`;
  }
  const near = similar(name, inScope);
  if (near !== undefined) return `Define or import it, or write '${near}'`;
  for (const [module, names] of modules) {
    const exported = similar(name, names);
    if (exported !== undefined) return `Define it, or import { ${exported} } from '${module}'`;
  }
  if (name === 'React') return "Write import * as React from 'react'";
  return `Define or import it; a global of another script is 'window.${name}'`;
}
