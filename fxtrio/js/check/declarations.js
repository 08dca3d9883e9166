/** Names that the files of a project make known to all of its files. */

import fs from 'node:fs';
import path from 'node:path';

import { declaredNames, globalNames } from './ambient.js';

/** @typedef {import('./names.js').Tools} Tools */

const TYPESCRIPT = /\.(m?ts|tsx)$/;

/** What such a module has that is none of declarations alone. `TypesFolder` looks for the same. */
const GLOBAL = /\bdeclare\s+global\b/;

/**
 * Return what declaration files make known, and modules with `declare global`.
 *
 * @param {Tools} tools
 * @param {string} folder
 * @returns {Set<string>}
 */
export function readDeclarations(tools, folder) {
  /** @type {Set<string>} */
  const names = new Set();
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && !/^(\.|node_modules$|__pycache__$|venv$)/.test(entry.name)) {
      for (const name of readDeclarations(tools, file)) names.add(name);
    } else if (entry.isFile() && TYPESCRIPT.test(entry.name)) {
      for (const name of namesIn(tools, file)) names.add(name);
    }
  }
  return names;
}

/**
 * @param {Tools} tools
 * @param {string} file
 * @returns {Iterable<string>}
 */
function namesIn({ parse }, file) {
  const text = fs.readFileSync(file, 'utf8');
  if (file.endsWith('.d.ts')) {
    return declaredNames(/** @type {any} */ (parse(file, text, { lang: 'dts' }).program));
  }
  if (!GLOBAL.test(text)) return [];
  const lang = file.endsWith('.tsx') ? 'tsx' : 'ts';
  return globalNames(/** @type {any} */ (parse(file, text, { lang }).program));
}
