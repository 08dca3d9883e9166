/** Imports that lead to no file of the project: told before browsers and renders fail for them. */

import path from 'node:path';

import { moduleFile } from '../vite/specifiers.js';

/**
 * Return the first import of a file of the project that is not there; null when all are.
 *
 * @param {ReturnType<typeof import('vite').parseSync>['module']} module what the parser knows of imports
 * @param {object} place
 * @param {string} place.root folder of the project
 * @param {string} place.file absolute path of the importing file
 * @returns {{ start: number, value: string } | null} where it stands, from 0
 */
export function unresolvedImport({ staticImports }, { root, file }) {
  for (const { moduleRequest, entries } of staticImports) {
    const { value, start } = moduleRequest;
    const types = entries.length > 0 && entries.every(({ isType }) => isType);
    if (types || !/^(\.|@\/)/.test(value)) continue;
    if (moduleFile(value, root, path.dirname(file)) === undefined) return { start, value };
  }
  return null;
}
