/** Modules of a project that its page files lead to, and those in the pages folder that none does. */

import fs from 'node:fs';
import path from 'node:path';

import { IMPORT, moduleFile } from './specifiers.js';
import { walk } from '../tree.js';

/** @typedef {import('../tree.js').Node} Node */

const CODE = /(?<!\.d)\.(m?[jt]s|[jt]sx)$/;

/** What may be a page, or an endpoint, by mistake: not `card.test.jsx`, `card.stories.tsx` or `_card.jsx`. */
const COMPONENT = /^[^_.][^.]*\.([jt]sx|m?[jt]s)$/;
const IGNORED = /^([_.]|node_modules$)/;

/**
 * Return the files that a file imports: the specifier of each import, and the absolute path.
 *
 * @param {Node} program
 * @param {string} root folder of the project
 * @param {string} source of the file
 * @returns {[string, string][]}
 */
export function importedFiles(program, root, source) {
  const folder = path.dirname(path.join(root, source));
  /** @type {Map<string, string>} */
  const found = new Map();
  walk(program, (node) => {
    if (!IMPORT.test(node.type) || typeof node.source?.value !== 'string') return;
    const file = moduleFile(node.source.value, root, folder);
    if (file !== undefined) found.set(node.source.value, file);
  });
  return [...found];
}

/**
 * Return the modules of the project among imported files, relative to its folder.
 *
 * @param {[string, string][]} resolved
 * @param {string} root folder of the project
 * @returns {string[]}
 */
export function importedModules(resolved, root) {
  /** @type {Set<string>} */
  const found = new Set();
  for (const [, file] of resolved) {
    const relative = path.relative(root, file).split(path.sep).join('/');
    const isOwn = !/^\.\.\/|(^|\/)node_modules\//.test(relative);
    if (CODE.test(relative) && isOwn) found.add(relative);
  }
  return [...found];
}

/**
 * Return the components of a folder and of those in it that were not reached.
 *
 * @param {string} root folder of the project
 * @param {string} folder relative to it
 * @param {Set<string>} reached
 * @returns {string[]}
 */
export function unreached(root, folder, reached) {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory() && !IGNORED.test(entry.name)) return unreached(root, file, reached);
    return entry.isFile() && COMPONENT.test(entry.name) && !reached.has(file) ? [file] : [];
  });
}
