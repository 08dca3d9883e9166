/** Imports that lead to nothing: told before browsers and renders fail for them. */

import path from 'node:path';

import { moduleFile, packageRemedy } from '../vite/specifiers.js';

/** @typedef {ReturnType<typeof import('vite').parseSync>['module']} Module */
/** @typedef {{ start: number, value: string }} Request what is imported, and where it stands */

const FILE = /^(\.|@\/)/;
/** Addresses, and what packages and projects define themselves: Vite tells of those. */
const OTHER = /^([/#]|\w[\w+.-]*:)/;

/**
 * Return the first import that is not there; null when all are.
 *
 * @param {Module} module what the parser knows of imports
 * @param {string} text
 * @param {object} place
 * @param {string} place.root folder of the project
 * @param {string} place.file absolute path of the importing file
 * @param {(specifier: string) => Promise<boolean>} place.resolves whether a package is there
 * @returns {Promise<{ start: number, message: string } | null>} where it stands, from 0
 */
export async function unresolvedImport(module, text, { root, file, resolves }) {
  for (const { value, start } of requests(module, text)) {
    if (FILE.test(value)) {
      if (moduleFile(value, root, path.dirname(file)) !== undefined) continue;
      return { start, message: `'${value}' cannot be found. Check the path, or save that file.` };
    }
    if (OTHER.test(value)) continue;
    const message = await resolves(value).then(
      (found) => (found ? '' : `'${value}' cannot be found. ${packageRemedy(value)}.`),
      (error) => String(error?.message ?? error), // the package says what it has
    );
    if (message !== '') return { start, message };
  }
  return null;
}

/**
 * Return what a module imports, but for types, by place.
 *
 * @param {Module} module
 * @param {string} text
 * @returns {Request[]}
 */
function requests({ staticImports, staticExports, dynamicImports }, text) {
  const imported = staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest);
  const exported = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, moduleRequest }) => (isType || !moduleRequest ? [] : [moduleRequest]));
  const later = dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const [, , value] = /^(['"])([^'"\\]*)\1$/.exec(text.slice(start, end)) ?? [];
    return value === undefined ? [] : [{ start, value }];
  });
  return [...imported, ...exported, ...later].sort((one, other) => one.start - other.start);
}
