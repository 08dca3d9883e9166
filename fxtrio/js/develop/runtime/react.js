/**
 * The one React of `fx dev`, whoever imports it: that of `reactHome`, for page files, modules, the
 * client runtime, and packages, which Vite bundles before anybody asks for them. Browsers get the
 * one that is bundled with the client runtime.
 */

import path from 'node:path';

import { OF_LIBRARY } from '../../worker/library.js';
import { reactFile, reactModules } from './runtime.js';

/** @typedef {import('vite').Plugin} Plugin */

const NATIVE = '\0fx:native:';
const REQUIRED = '\0fx:required:';
const SHARED = '\0fx:shared:';
const NAME = /^[A-Za-z_$][\w$]*$/;

/** The symbol of the function that loads a module of React for renders. */
const LOAD = 'fx.native';

/**
 * Packages are bundled without source maps, which are twice as large as the code. Vite asks for
 * them whatever its options say.
 *
 * @param {any} options of Rolldown's output
 */
const outputOptions = (options) => ({ ...options, sourcemap: false });

/** @param {string} name of a module */
const loading = (name) =>
  `globalThis[Symbol.for(${JSON.stringify(LOAD)})](${JSON.stringify(name)})`;

/**
 * What page files and modules import. In renders it is Node's own, and so is the client runtime:
 * Vite would need half a second for them.
 *
 * @param {string} home
 * @param {NodeJS.Require} native of that place
 * @param {string} runtime
 * @param {object} serverRuntime what stands for it in renders
 * @returns {Plugin}
 */
export function nativePlugin(home, native, runtime, serverRuntime) {
  const importer = path.join(home, 'package.json');
  const client = `${runtime}/index.js`;
  const bundled = new Set(reactModules(home));
  const load = (/** @type {string} */ id) => (id === client ? serverRuntime : native(id));
  /** @type {any} */ (globalThis)[Symbol.for(LOAD)] = load;
  return {
    name: 'fx:native',
    enforce: 'pre',
    resolveId: {
      filter: { id: [OF_LIBRARY, /\/index\.js$/] },
      handler(id, _importer, options) {
        if (id !== client && !OF_LIBRARY.test(id)) return null;
        if (this.environment.config.consumer === 'server') return `${NATIVE}${id}`;
        if (id === client) return null;
        if (bundled.has(id)) return reactFile(runtime, id);
        return this.resolve(id, importer, { ...options, skipSelf: true });
      },
    },
    load: {
      filter: { id: /^\0fx:native:/ },
      handler(id) {
        const name = id.slice(NATIVE.length);
        const names = Object.keys(load(name)).filter((one) => NAME.test(one) && one !== 'default');
        return (
          `const module = ${loading(name)};` +
          `export default module; export const { ${names.join(', ')} } = module;`
        );
      },
    },
  };
}

/**
 * What packages import that are bundled for browsers: React is not bundled with them. They get it
 * through a CommonJS module, as it is one: a name that it has no more is undefined, and no error.
 *
 * @param {string} home
 * @returns {Plugin}
 */
export function bundledPlugin(home) {
  const importer = path.join(home, 'package.json');
  const bundled = new Set(reactModules(home));
  const plugin = {
    // Vite bundles anew when a name changes: another React may be installed meanwhile.
    name: `fx:shared:${home}`,
    resolveId: {
      filter: { id: OF_LIBRARY },
      /** @this {any} */
      handler(/** @type {string} */ id, /** @type {string | undefined} */ from) {
        if (!bundled.has(id)) return this.resolve(id, importer, { skipSelf: true });
        return from?.startsWith(SHARED) ? { id, external: true } : `${SHARED}${id}`;
      },
    },
    load: {
      filter: { id: /^\0fx:shared:/ },
      handler: (/** @type {string} */ id) =>
        `import value from ${JSON.stringify(id.slice(SHARED.length))}; module.exports = value;`,
    },
    outputOptions,
  };
  return {
    name: 'fx:bundled',
    config: () => ({
      optimizeDeps: { rolldownOptions: { plugins: [/** @type {any} */ (plugin)] } },
    }),
    configResolved({ environments }) {
      // The React plug-in includes it, and Vite looks for that below the project alone, where
      // there may be a React without its renderer: the peer dependency of a package.
      for (const { optimizeDeps } of Object.values(environments)) {
        optimizeDeps.include = optimizeDeps.include?.filter((name) => !OF_LIBRARY.test(name));
      }
    },
  };
}

/**
 * What packages require that are bundled for renders. Their imports are left to `nativePlugin`;
 * Node would resolve `require` by itself, from the project.
 *
 * @returns {any} a plug-in of Rolldown
 */
export function requiredPlugin() {
  return {
    name: 'fx:required',
    resolveId: {
      filter: { id: OF_LIBRARY },
      handler: (
        /** @type {string} */ id,
        /** @type {string} */ _importer,
        /** @type {any} */ how,
      ) => (how.kind === 'require-call' ? `${REQUIRED}${id}` : null),
    },
    load: {
      filter: { id: /^\0fx:required:/ },
      handler: (/** @type {string} */ id) =>
        `module.exports = ${loading(id.slice(REQUIRED.length))};`,
    },
    outputOptions,
  };
}
