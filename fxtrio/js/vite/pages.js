/**
 * The plug-in for page files, `.fxl` and pages in Markdown: their UI half, and nothing else of them,
 * is code.
 */

import fs from 'node:fs';
import path from 'node:path';

import {
  CLIENT_ENTRY,
  clientEntry,
  ISLANDS_ENTRY,
  islandsEntry,
  SERVER_ENTRY,
  serverEntry,
} from './entries.js';

/** @typedef {import('./plan.js').Plan} Plan */

/** What browsers start with. */
const STARTS = new Map([
  [`\0${CLIENT_ENTRY}`, clientEntry],
  [`\0${ISLANDS_ENTRY}`, islandsEntry],
]);

const SERVER_CODE = /\.(fxl|pyi?)$/;

/**
 * Return the plug-in. The id of a module is the path of its page file, so relative imports
 * and source maps are those of the file; its text is the staged UI half, whose lines are
 * those of the file.
 *
 * @param {Plan} plan
 * @param {string} client folder of the client runtime
 * @returns {import('vite').Plugin}
 */
export function pagesPlugin(plan, client) {
  /** @type {import('./entries.js').Chunks | undefined} */
  let chunks;
  const server = () => serverEntry(plan, `${path.posix.dirname(client)}/render`);
  const modules = new Set(plan.modules);
  return {
    name: 'fx:pages',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^virtual:fx\/|\.(fxl|md|pyi?)(\?|$)/ },
      async handler(id, importer, options) {
        if (id.startsWith('virtual:fx/')) return `\0${id}`;
        // A page file that is a link is a page of its own, and not the file that it leads to.
        const named = id.startsWith('.') && importer ? path.resolve(importer, '..', id) : id;
        if (path.isAbsolute(named) && modules.has(sourceOf(plan, named))) return named;
        const found = await this.resolve(id, importer, { ...options, skipSelf: true });
        const cause = found === null || !importer ? '' : refusal(modules, sourceOf(plan, found.id));
        if (cause !== '') throw Object.assign(new Error(cause), { importer, specifier: id });
        return found;
      },
    },
    load: {
      filter: { id: /^\0virtual:fx\/|\.(fxl|md|pyi?)(\?|$)/ },
      handler(id) {
        const start = STARTS.get(id);
        if (start !== undefined) {
          chunks ??= emitChunks(this, client);
          return { code: start(plan, client, chunks), moduleType: 'js' };
        }
        if (id === `\0${SERVER_ENTRY}`) return { code: server(), moduleType: 'js' };
        const source = sourceOf(plan, id);
        const cause = refusal(modules, source);
        if (cause !== '') throw new Error(cause);
        if (!modules.has(source)) return null; // the text of a document
        // At once: the way through other threads takes nine times as long.
        const code = fs.readFileSync(path.join(plan.staging, 'ui', `${source}.tsx`), 'utf8');
        return { code, moduleType: 'tsx', map: null };
      },
    },
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        // Documents name the chunk that has the module, and not the one that only imports it.
        if (file.type !== 'chunk') continue;
        const start = file.facadeModuleId ?? '';
        if (STARTS.has(start) && !file.moduleIds.includes(start)) delete bundle[file.fileName];
      }
      const leaked = Object.values(bundle).find(
        (file) => file.type === 'asset' && SERVER_CODE.test(file.fileName),
      );
      if (leaked !== undefined) throw new Error(serverCode(leaked.fileName));
    },
  };
}

/**
 * Let the chunks be made that browsers load when they need them.
 *
 * @param {{ emitFile(file: { type: 'chunk', name: string, id: string }): string }} bundler
 * @param {string} client folder of the client runtime
 * @returns {import('./entries.js').Chunks}
 */
function emitChunks(bundler, client) {
  const emit = (/** @type {string} */ name, /** @type {string} */ file) =>
    bundler.emitFile({ type: 'chunk', name, id: `${client}/${file}` });
  return {
    below: emit('below', 'view/base/elements.js'),
    visits: emit('visits', 'navigation/visits/visits.js'),
  };
}

/**
 * Whether a file may become part of a module as a data URL.
 *
 * @param {string} file
 * @returns {false | undefined} undefined leaves it to its size
 */
export function mayInline(file) {
  return SERVER_CODE.test(file.split(/[?#]/, 1)[0]) ? false : undefined;
}

/**
 * Return why a module must not be imported, "" when it may be.
 *
 * @param {Set<string>} modules the page files of the app
 * @param {string} source its file
 */
function refusal(modules, source) {
  if (/\.md(\?|$)/.test(source)) return '';
  if (!source.endsWith('.fxl')) return serverCode(source.split('?', 1)[0]);
  if (modules.has(source)) return '';
  return `${source} is not a page file of this app. Import components from .jsx or .tsx files.`;
}

/** @param {string} file */
function serverCode(file) {
  return `${file} contains server code: its text or URL cannot be imported.`;
}

/**
 * @param {Plan} plan
 * @param {string} id
 */
function sourceOf(plan, id) {
  return path.relative(plan.root, id).split(path.sep).join('/');
}
