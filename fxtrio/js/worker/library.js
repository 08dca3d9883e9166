/**
 * The UI library by name, from `library.json`, which `fxtrio.compile.check.project_checks` reads too.
 *
 * What it does is called in `render/renderers.js` and `client/start.js`.
 */

import fs from 'node:fs';

/**
 * @type {{
 *   packages: readonly string[],
 *   alongside: readonly string[],
 *   renderer: string,
 *   oldestMajor: number,
 * }}
 * `packages` are imported by pages and come in one copy; `alongside` come with them;
 * `renderer` is the one whose frames tell an application nothing.
 */
export const LIBRARY = JSON.parse(
  fs.readFileSync(new URL('./library.json', import.meta.url), 'utf8'),
);

/** What is imported of it: a package, or a module in one. */
export const OF_LIBRARY = new RegExp(`^(${LIBRARY.packages.join('|')})(/|$)`);

/** A frame of its renderer in a stack. */
export const RENDERER = new RegExp(`^\\s+at .*/node_modules/${LIBRARY.renderer}/`);

/**
 * Whether a module is part of it.
 *
 * @param {string} id path of the file
 */
export function isOfLibrary(id) {
  const names = [...LIBRARY.packages, ...LIBRARY.alongside];
  return names.some((name) => id.includes(`/node_modules/${name}/`));
}
