/** The plug-in for `.fxl` files: their UI half, and nothing else of them, is code. */

import fs from 'node:fs/promises';
import path from 'node:path';

import { CLIENT_ENTRY, clientEntry, SERVER_ENTRY, serverEntry } from './entries.js';

/** @typedef {import('./plan.js').Plan} Plan */

const SERVER_CODE = /\.(fxl|pyi?)$/;

/**
 * Return the plug-in. The id of a module is the path of its `.fxl` file, so relative imports
 * and source maps are those of the file; its text is the staged UI half, whose lines are
 * those of the file.
 *
 * @param {Plan} plan
 * @param {string} client folder of the client runtime
 * @returns {import('vite').Plugin}
 */
export function pagesPlugin(plan, client) {
  const entries = new Map([
    [`\0${CLIENT_ENTRY}`, () => clientEntry(plan, client)],
    [`\0${SERVER_ENTRY}`, () => serverEntry(plan, client)],
  ]);
  return {
    name: 'fx:pages',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^virtual:fx\// },
      handler: (id) => `\0${id}`,
    },
    load: {
      filter: { id: /^\0virtual:fx\/|\.(fxl|pyi?)(\?|$)/ },
      async handler(id) {
        const entry = entries.get(id);
        if (entry !== undefined) return { code: entry(), moduleType: 'js' };
        if (!/\.fxl$/.test(id)) throw new Error(serverCode(plan, id));
        return { code: await uiHalf(plan, id), moduleType: 'tsx', map: null };
      },
    },
    generateBundle(_options, bundle) {
      const leaked = Object.values(bundle).find(
        (file) => file.type === 'asset' && SERVER_CODE.test(file.fileName),
      );
      if (leaked !== undefined) throw new Error(serverCode(plan, leaked.fileName));
    },
  };
}

/**
 * Whether a file may become part of a module as a data URL.
 *
 * @param {string} file
 * @returns {false | undefined} undefined leaves it to its size
 */
export function mayInline(file) {
  return SERVER_CODE.test(file.replace(/[?#].*$/, '')) ? false : undefined;
}

/**
 * @param {Plan} plan
 * @param {string} id
 */
async function uiHalf(plan, id) {
  const source = sourceOf(plan, id);
  try {
    return await fs.readFile(path.join(plan.staging, 'ui', `${source}.tsx`), 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    throw new Error(
      `${source} is no page file of this app. Import components from .jsx or .tsx files.`,
      { cause: error },
    );
  }
}

/**
 * @param {Plan} plan
 * @param {string} id
 */
function serverCode(plan, id) {
  return `${sourceOf(plan, id)} holds server code: its text or URL cannot be imported.`;
}

/**
 * @param {Plan} plan
 * @param {string} id
 */
function sourceOf(plan, id) {
  return path.relative(plan.root, id).split(path.sep).join('/');
}
