/** Imports that lead to nothing in browsers: told before browsers and renders fail for them. */

import path from 'node:path';

import { foreignImport } from '../../vite/foreign.js';
import { requestsOf } from '../../vite/requests.js';
import { moduleFile, packageRemedy } from '../../check/imports/specifiers.js';

/** @typedef {import('../../vite/requests.js').Module} Module */

const FILE = /^(\.|@\/)/;
/** Addresses, and what packages and projects define themselves: Vite tells of those. */
const OTHER = /^(\/|\w[\w+.-]*:)/;

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
  for (const { value, start, later } of requestsOf(module, text)) {
    const foreign = foreignImport(value, root, path.dirname(file), later);
    if (foreign !== undefined) return { start, message: `${foreign.message}. ${foreign.remedy}.` };
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
