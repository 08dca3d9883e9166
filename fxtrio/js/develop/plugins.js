/** What Vite has to know of page files, of React, and of its own client. */

import path from 'node:path';

import { baseOf, CLIENT_ENTRY } from '../vite/entries.js';
import { foreignPlugin } from '../vite/foreign.js';
import { developedPathsPlugins } from '../vite/stylesheets.js';
import { bundledPlugin, nativePlugin } from './runtime/react.js';
import { CLIENT_OF_VITE, extendedClient } from './runtime/runtime.js';

/** @typedef {import('vite').Plugin} Plugin */

const VITE_CLIENT = /\/vite\/dist\/client\/[a-z]+\.mjs$/;
const PAGE = /\.(fxl|md)\.tsx$/;
const SERVER_CODE = /\.(fxl|pyi?)(\?|$)/;

/** What modules end with that take updates: `browser/versions.js` learns what they are. */
const LOADED = `;import.meta.hot?.loaded?.(import.meta.url);`;

/**
 * @param {object} known
 * @param {import('./settings.js').Settings} known.settings
 * @param {import('./site.js').Site} known.site
 * @param {typeof import('vite')} known.vite
 * @param {string} known.home folder whose `node_modules` has React
 * @param {NodeJS.Require} known.native of that folder
 * @param {string} known.runtime folder of the client runtime, bundled
 * @param {object} known.serverRuntime what stands for it in renders
 * @param {string} known.cacheDir folder of Vite's cache
 * @param {(parse: typeof import('vite').parseSync) => Plugin} known.discovery
 * @returns {Plugin[]}
 */
export function developmentPlugins(known) {
  const { settings, site, vite, home, native, runtime, serverRuntime, cacheDir } = known;
  return [
    entryPlugin(settings, runtime),
    known.discovery(vite.parseSync),
    foreignPlugin(settings.root, vite.parseSync),
    pagePlugin(site, vite, runtime),
    nativePlugin(home, native, runtime, serverRuntime),
    bundledPlugin(home),
    loadedPlugin(),
    unmappedPlugin([runtime, cacheDir]),
    ...developedPathsPlugins(baseOf(/** @type {any} */ (settings))),
  ];
}

/**
 * The entry, and the parts of Vite's client that are other than its own.
 *
 * @param {import('./settings.js').Settings} settings
 * @param {string} runtime
 * @returns {Plugin}
 */
function entryPlugin(settings, runtime) {
  const base = JSON.stringify(baseOf(/** @type {any} */ (settings)));
  const loads = (/** @type {string} */ name) => `() => import("${runtime}/${name}.js")`;
  const entry = [
    `import { develop, start } from ${JSON.stringify(`${runtime}/main.js`)};`,
    `await develop({ base: ${base}, start, below: ${loads('below')}, visits: ${loads('visits')}, hot: import.meta.hot, root: ${JSON.stringify(settings.root)}, editor: ${JSON.stringify(settings.editor)}, covers: ${settings.overlay} });`,
  ].join('\n');
  return {
    name: 'fx:entry',
    enforce: 'pre',
    resolveId: {
      order: 'pre', // before the React plug-in's, which has that order, too
      filter: { id: /^virtual:fx\/client$|^\/@react-refresh$|^(\.\.\/)+@vite\/client$/ },
      handler(id) {
        if (id === CLIENT_OF_VITE) return this.resolve('/@vite/client'); // as browsers understand it
        return id === CLIENT_ENTRY ? `\0${id}` : `${runtime}/refresh.js`;
      },
    },
    load: {
      filter: { id: /^\0virtual:fx\/client$/ },
      handler: () => ({ code: entry, moduleType: 'js' }),
    },
    transform: {
      filter: { id: /\/vite\/dist\/client\/client\.mjs$/ },
      // A server process that is started anew must not make pages reload.
      handler: (code) => ({
        code: extendedClient(code, runtime, settings.base),
        map: null,
      }),
    },
  };
}

/**
 * The UI half of a page file is its module, and takes updates of itself whatever it exports:
 * nothing imports pages.
 *
 * @param {import('./site.js').Site} site
 * @param {typeof import('vite')} vite
 * @param {string} runtime
 * @returns {Plugin}
 */
function pagePlugin(site, vite, runtime) {
  return {
    name: 'fx:pages',
    enforce: 'pre',
    resolveId: {
      filter: { id: /\.(fxl|pyi?)(\.tsx)?(\?|$)|\.md\.tsx(\?|$)/ },
      handler(id, importer) {
        if (site.sourceOf(id) !== null) return id;
        if (site.sourceOf(site.rooted(id)) !== null) return site.rooted(id); // as in a URL
        const named = importer ? path.resolve(path.dirname(importer), id) : id;
        if (site.sourceOf(`${named}.tsx`) !== null) return `${named}.tsx`;
        throw new Error(
          `${path.basename(id)} contains server code: its text or URL cannot be imported.`,
        );
      },
    },
    load: {
      filter: { id: /\.(fxl|pyi?)(\.tsx)?(\?|$)|\.md\.tsx(\?|$)/ },
      handler(id) {
        const source = site.sourceOf(id);
        if (source === null) {
          if (!SERVER_CODE.test(id) && !id.includes('.fxl.tsx')) return null;
          throw new Error(`${path.basename(id)} contains server code.`);
        }
        return { code: site.textOf(source), moduleType: 'tsx', map: null };
      },
    },
    transform: {
      order: 'pre',
      filter: { id: PAGE },
      handler(code, id) {
        const forBrowsers = this.environment.config.consumer === 'client';
        return compilePage(code, id, { site, vite, runtime, forBrowsers });
      },
    },
  };
}

/**
 * @param {string} code
 * @param {string} id
 * @param {object} known
 * @param {import('./site.js').Site} known.site
 * @param {typeof import('vite')} known.vite
 * @param {string} known.runtime
 * @param {boolean} known.forBrowsers
 * @returns {Promise<import('vite').Rolldown.TransformResult>}
 */
async function compilePage(code, id, { site, vite, runtime, forBrowsers }) {
  const done = await vite.transformWithOxc(code, id, {
    lang: 'tsx',
    sourcemap: true,
    jsx: { runtime: 'automatic', development: true, refresh: forBrowsers },
  });
  const map = /** @type {any} */ (typeof done.map === 'string' ? JSON.parse(done.map) : done.map);
  map.sources = [id.replace(/\.tsx$/, '')];
  const source = /** @type {string} */ (site.sourceOf(id));
  const text = forBrowsers ? refreshing(done.code, id, site.urlOf(source), runtime) : done.code;
  return { code: text, map, moduleType: 'js' };
}

/**
 * Return a page's code with its part in React Fast Refresh, on the same lines.
 *
 * @param {string} code
 * @param {string} id
 * @param {string} url
 * @param {string} runtime
 */
function refreshing(code, id, url, runtime) {
  const name = JSON.stringify(id);
  return (
    `import * as __refresh from "/@react-refresh";` +
    `import { accept as __accept } from ${JSON.stringify(`${runtime}/main.js`)};` +
    `const $RefreshReg$ = (type, name) => __refresh.register(type, ${name} + " " + name);` +
    `const $RefreshSig$ = () => __refresh.createSignatureFunctionForTransform();` +
    // The default export is a component, though it may have no name that says so.
    `const $RefreshAll$ = (module) => { __refresh.registerExportsForReactRefresh(${name}, module); ` +
    `__refresh.register(module.default, ${name} + " export default"); };` +
    // First, so that code that throws takes the update that puts it right.
    `import.meta.hot.accept((next) => { if (!next) return; ` +
    `$RefreshAll$(next); __accept(${JSON.stringify(url)}, next); });` +
    code +
    `\n;__refresh.__hmr_import(import.meta.url).then($RefreshAll$);${LOADED}`
  );
}

/**
 * Let modules that take updates of themselves say when they have been evaluated; those of page
 * files do.
 *
 * @returns {Plugin}
 */
function loadedPlugin() {
  return {
    name: 'fx:loaded',
    enforce: 'post',
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    transform: {
      order: 'post',
      filter: { id: { exclude: PAGE }, code: 'import.meta.hot' },
      handler: (code) => ({ code: `${code}\n${LOADED}`, map: null }),
    },
  };
}

/**
 * Code that nobody works on is sent without a source map, which is larger than itself.
 *
 * @param {string[]} folders
 * @returns {Plugin}
 */
function unmappedPlugin(folders) {
  return {
    name: 'fx:unmapped',
    enforce: 'pre',
    transform: {
      order: 'pre',
      filter: { id: [...folders.map((folder) => `${folder}/**`), VITE_CLIENT] },
      // Vite makes a map for what no plugin has changed.
      handler: (code) => ({ code: `${code}\n`, map: { mappings: '' } }),
    },
  };
}
