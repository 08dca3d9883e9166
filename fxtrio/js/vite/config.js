/** The Vite configuration of a build: one for the browser's files and the SSR bundle. */

import path from 'node:path';

import { isOfLibrary } from '../worker/library.js';
import { baseOf, CLIENT_ENTRY, ISLANDS_ENTRY, SERVER_ENTRY } from './entries.js';
import { foreignPlugin } from './foreign.js';
import { packagesPlugin } from './library/packages.js';
import { mayInline, pagesPlugin } from './pages.js';
import { flatten } from './problems.js';
import { builtPathsPlugin } from './stylesheets.js';

/** @typedef {import('./plan.js').Plan} Plan */

/** The chunk of what every page needs and starts with: React, and fxtrio's client. */
const RUNTIME = 'runtime';

/** The chunk of what pages load for islands: React, and what brings them to life. */
const ISLANDS = 'islands';

/**
 * What only an app needs that is served below a path, and what only navigations need. Where the
 * pages of an app use a module of it, it becomes a part of the runtime all the same.
 */
const APART =
  /\/base\/(attributes|elements|html)\.js$|\/navigation\/visits\/|\/head\/(attributes|document|head|script-urls|writer)\.js$/;

/** What browsers that are at most about three years old understand. */
const TARGET = 'es2022';

/**
 * The format of the server bundle: a script, whose compiled code V8 takes (`worker/bundle.cjs`), or an
 * ES module where code of the app needs that.
 *
 * @typedef {'cjs' | 'es'} Format
 */

/** What the bundler says of `import.meta` that a script does not have; it can have a URL and a path. */
const LOST = 'EMPTY_IMPORT_META';

/** What it says of `await` at the top of a module. */
const AWAITS = 'INVALID_TLA_FORMAT';

/** Maybe an import at a moment of the code's choice: V8 forgets in compiled code how such a one is done. */
const IMPORTS = /\bimport\s*\(/;

/** What makes code of texts, which may have such an import: `(async () => {}).constructor` does, too. */
const EVALUATES = /\beval\b|\bFunction\s*\(|[)}]\s*\)\s*\.constructor\b/;

/**
 * @param {Plan} plan
 * @param {object} options
 * @param {string} options.client folder of the client runtime
 * @param {string} options.home folder whose `node_modules` has React
 * @param {import('vite').Logger} options.logger
 * @param {typeof import('vite').parseSync} options.parse
 * @param {import('vite').Plugin[]} options.documents what makes modules of documents, pictures and fonts
 * @param {import('vite').Plugin[]} options.beside what looks at modules and changes none
 * @param {() => boolean} options.hasIslands whether a page has islands; known when modules are read
 * @param {Format} format of the SSR bundle
 * @returns {import('vite').InlineConfig}
 */
export function makeConfig(plan, options, format) {
  const { client, home, logger, parse, documents, beside, hasIslands } = options;
  const production = plan.mode === 'production';
  return {
    root: plan.root,
    base: plan.base,
    experimental: { renderBuiltUrl: urlOf },
    mode: plan.mode,
    configFile: false,
    customLogger: logger,
    appType: 'custom',
    publicDir: false,
    envPrefix: 'FX_PUBLIC_',
    define: { 'process.env.NODE_ENV': JSON.stringify(plan.mode) },
    resolve: {
      alias: [
        { find: /^fx\/client$/, replacement: `${client}/index.js` },
        { find: /^@\//, replacement: `${plan.root}/` },
      ],
      extensions: ['.mjs', '.js', '.mts', '.ts', '.jsx', '.tsx', '.json'],
    },
    plugins: [
      packagesPlugin(home, client),
      pagesPlugin(plan, client),
      foreignPlugin(plan.root, parse),
      builtPathsPlugin(baseOf(plan)),
      ...documents,
      ...beside,
    ],
    build: { assetsInlineLimit: mayInline, reportCompressedSize: false, emptyOutDir: false },
    environments: {
      client: { consumer: 'client', build: clientBuild(plan, client, production, hasIslands) },
      ssr: {
        consumer: 'server',
        resolve: { noExternal: true },
        build: serverBuild(plan, production, format),
      },
    },
  };
}

/**
 * @param {Plan} plan
 * @param {string} client
 * @param {boolean} production
 * @param {() => boolean} hasIslands
 * @returns {import('vite').BuildEnvironmentOptions}
 */
function clientBuild(plan, client, production, hasIslands) {
  return {
    outDir: path.join(plan.staging, 'client'),
    assetsDir: '',
    target: TARGET,
    minify: production,
    sourcemap: production ? 'hidden' : true,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: clientInput(plan),
      preserveEntrySignatures: 'strict',
      transform: jsx(production),
      output: {
        ...names(),
        codeSplitting: {
          groups: [
            {
              // Pages with scripts need all of it, and get it in one request where no page has less.
              name: () => (hasIslands() ? ISLANDS : null),
              debugName: ISLANDS,
              priority: 1,
              test: (id) =>
                isOfLibrary(id) ||
                id === `\0${ISLANDS_ENTRY}` ||
                id.startsWith(`${client}/view/base/jsx`),
            },
            {
              name: RUNTIME,
              test: (id) =>
                (id.startsWith(`${client}/`) && !APART.test(id)) ||
                isOfLibrary(id) ||
                id === `\0${CLIENT_ENTRY}`,
            },
          ],
        },
      },
    },
  };
}

/**
 * @param {Plan} plan
 * @param {boolean} production
 * @param {Format} format
 * @returns {import('vite').BuildEnvironmentOptions}
 */
function serverBuild(plan, production, format) {
  return {
    outDir: path.join(plan.staging, 'ssr'),
    emptyOutDir: format === 'es', // where a script was written that cannot be one
    assetsDir: '',
    ssr: true,
    target: 'node20',
    minify: false, // names in stacks; it is read once, from a disk
    sourcemap: true,
    rolldownOptions: {
      input: { server: SERVER_ENTRY },
      experimental: { attachDebugInfo: 'none' }, // comments with paths of this machine
      transform: jsx(production),
      output: {
        ...names(),
        format,
        intro: format === 'cjs' ? "'use strict';" : '', // as modules are
        entryFileNames: serverFile(format),
        codeSplitting: false,
        comments: { legal: true, annotation: false, jsdoc: false }, // else V8 needs two bytes for each character
      },
    },
  };
}

/**
 * Return how browsers come to the URL of a file: from where they have the module or stylesheet,
 * so that the app can be mounted below any path. All files are in one folder. Node has the
 * URL as a string (`js/render/mounted.js`).
 *
 * @param {string} file
 * @param {{ hostType: string, ssr: boolean }} host
 * @returns {{ relative: true } | { runtime: string } | undefined}
 */
export function urlOf(file, { hostType, ssr }) {
  if (ssr) return undefined;
  if (hostType !== 'js') return { relative: true };
  return { runtime: `new URL(${JSON.stringify(file)}, import.meta.url).pathname` };
}

/** @param {boolean} production */
function jsx(production) {
  return { jsx: { runtime: /** @type {const} */ ('automatic'), development: !production } };
}

/** Return how files are called: the same for both bundles, since pages name assets by URL. */
function names() {
  return {
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    assetFileNames: '[name]-[hash][extname]',
  };
}

/**
 * Return the entries of the browser's files by the name of their chunk.
 *
 * @param {Plan} plan
 * @returns {Record<string, string>}
 */
function clientInput(plan) {
  /** @type {Record<string, string>} */
  const input = { client: CLIENT_ENTRY };
  for (const source of plan.modules) {
    const plain = chunkName(source);
    let name = plain;
    for (let number = 2; name in input; number += 1) name = `${plain}-${number}`;
    input[name] = `${plan.root}/${source}`;
  }
  return input;
}

/**
 * Return what the chunk of a page file is called: lower-case letters, digits and dashes.
 *
 * @param {string} source
 */
function chunkName(source) {
  const words = source.replace(/\.(fxl|md)$/, '').match(/[A-Za-z0-9]+/g) ?? [];
  return words.join('-').toLowerCase() || 'page';
}

/**
 * Build a script; `build` is called again, for a module, where that cannot be.
 *
 * @param {typeof import('vite').parseSync} parse
 * @returns {{ plugin: import('vite').Plugin, building: <T>(build: (format: Format) => Promise<T>) => Promise<T> }}
 */
export function serverFormat(parse) {
  let needsModule = false;
  /** @type {import('vite').Plugin} */
  const plugin = {
    name: 'fx:server-format',
    applyToEnvironment: ({ config }) => config.consumer === 'server',
    onLog(_level, { code }) {
      if (code === LOST) needsModule = true;
      return code !== LOST;
    },
    generateBundle({ format }, files) {
      if (format !== 'cjs') return;
      needsModule ||= Object.values(files).some(
        (file) => 'code' in file && mayImport(file.code, parse),
      );
    },
  };
  return {
    plugin,
    async building(build) {
      try {
        const built = await build('cjs');
        if (!needsModule) return built;
      } catch (error) {
        if (!flatten(error).some(({ code }) => code === AWAITS)) throw error;
      }
      return build('es');
    },
  };
}

/**
 * Whether a bundle imports what it does not contain. A text that says so, such as one of React, is no
 * such import where nothing makes code of texts.
 *
 * @param {string} code
 * @param {typeof import('vite').parseSync} parse
 */
function mayImport(code, parse) {
  if (!IMPORTS.test(code)) return false;
  return EVALUATES.test(code) || parse('server.js', code).module.dynamicImports.length > 0;
}

/**
 * Return the name of the server bundle.
 *
 * @param {Format} format
 */
export function serverFile(format) {
  return format === 'cjs' ? 'server.cjs' : 'server.mjs';
}
