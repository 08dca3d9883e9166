/** Names that a package gives to its own modules: the "imports" of its package.json. */

import fs from 'node:fs';
import path from 'node:path';

/**
 * Return the names that a file may import, such as `#parts/*`; undefined where they cannot be
 * read, which is told elsewhere.
 *
 * @param {string} folder of the importing file
 * @returns {string[] | undefined}
 */
export function ownNames(folder) {
  for (let here = folder; ; here = path.dirname(here)) {
    const file = path.join(here, 'package.json');
    if (fs.existsSync(file)) {
      try {
        return Object.keys(JSON.parse(fs.readFileSync(file, 'utf8')).imports ?? {});
      } catch {
        return undefined;
      }
    }
    if (here === path.dirname(here)) return [];
  }
}

/**
 * Whether a package has a name for what a file imports.
 *
 * @param {string} specifier
 * @param {string} folder of the importing file
 */
export function isOwnName(specifier, folder) {
  const names = ownNames(folder);
  return names === undefined || names.some((name) => matches(specifier, name));
}

/**
 * @param {string} specifier
 * @param {string} name
 */
function matches(specifier, name) {
  const [before, after] = name.split('*');
  if (after === undefined) return specifier === name;
  const isLongEnough = specifier.length > before.length + after.length;
  return isLongEnough && specifier.startsWith(before) && specifier.endsWith(after);
}
