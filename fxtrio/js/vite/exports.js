/** What a module lacks that another one imports: in words, with what may be meant. */

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { lackOf } from '../check/imports/exported.js';
import { isPageFile } from './page-file.js';

/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {(file: string, text: string) => import('rolldown/utils').ParseResult} Parse */

const CLIENT = fileURLToPath(new URL('../client/index.js', import.meta.url));

const PACKAGES = '/node_modules/';

/**
 * Return what is wrong with an import of a name that its module does not export, undefined
 * for other errors.
 *
 * @param {any} error of the bundler
 * @param {Plan} plan
 * @param {Parse} parse
 * @returns {string | undefined}
 */
export function missingExport(error, plan, parse) {
  const name = error?.code === 'MISSING_EXPORT' ? error.message.match(/"([^"]+)" is not/)?.[1] : '';
  if (!name || typeof error.exporter !== 'string') return undefined;
  const file = path.resolve(plan.root, error.exporter);
  const known = exportsOf(file, plan, parse);
  const exporter =
    file === CLIENT ? "'fx/client'" : (packageOf(file) ?? path.relative(plan.root, file));
  const { message, remedy } = lackOf(exporter, name, known);
  // A package may export what its own text does not name.
  if (packageOf(file) !== undefined && known.length === 0) {
    return `${message}. 'fx check' lists what it has.`;
  }
  return `${message}. ${remedy}${remedy.endsWith('?') ? '' : '.'}`;
}

/**
 * Return the quoted name of the package that a file is in; undefined for others.
 *
 * @param {string} file
 */
function packageOf(file) {
  const at = file.lastIndexOf(PACKAGES);
  if (at === -1) return undefined;
  const [name, inScope] = file.slice(at + PACKAGES.length).split('/');
  return name.startsWith('@') ? `'${name}/${inScope}'` : `'${name}'`;
}

/**
 * Return the names that a module exports, as far as its own text tells.
 *
 * @param {string} file
 * @param {Plan} plan
 * @param {Parse} parse
 * @returns {string[]}
 */
function exportsOf(file, plan, parse) {
  const source = path.relative(plan.root, file);
  const isPage = isPageFile(file);
  const written = isPage ? path.join(plan.staging, 'ui', `${source}.tsx`) : file;
  if (!fs.existsSync(written)) return []; // a module that is no file
  const { module } = parse(written, fs.readFileSync(written, 'utf8'));
  return module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ isType, exportName: { kind, name } }) =>
      isType ? [] : kind === 'Default' ? ['default'] : (name ?? []),
    ),
  );
}
