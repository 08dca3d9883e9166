/**
 * What never changes while a page is worked on, in a few files: React, the client runtime, and
 * what only development adds to it. Browsers would load sixty. Vite would bundle React along with
 * the packages of all pages, for which the first page would wait, and once more with each new one.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';

import { ownRuntime } from '../../vite/library/packages.js';
import { LIBRARY, OF_LIBRARY } from '../../worker/library.js';
import { RENDERER_GROUP, rendererPlugin } from './renderer.js';

const CLIENT = fileURLToPath(new URL('../../client', import.meta.url));
const RENDER = fileURLToPath(new URL('../../render', import.meta.url));
const BROWSER = fileURLToPath(new URL('../browser', import.meta.url));

/** What every document loads. */
const MAIN = fileURLToPath(new URL('./browser-runtime.js', import.meta.url));

/** What Vite's client gets. */
const HOT = fileURLToPath(new URL('./hot-runtime.js', import.meta.url));

/** What renders use, in one file. */
const SERVER = fileURLToPath(new URL('./server-runtime.js', import.meta.url));

/** What says how these are bundled. */
const RULES = [
  fileURLToPath(new URL('./renderer.js', import.meta.url)),
  fileURLToPath(import.meta.url),
];

/** The runtime of React Fast Refresh, as the React plug-in and our own modules import it. */
const REFRESH = '/@react-refresh';
const REFRESH_FILE = /\/refresh-runtime\.js$/;

/** The files that browsers name, by their name in the bundle. */
const INPUT = {
  main: MAIN, // what it begins with comes first
  index: `${CLIENT}/index.js`,
  below: `${CLIENT}/view/base/elements.js`,
  visits: `${CLIENT}/navigation/visits/visits.js`,
  refresh: REFRESH,
};

/**
 * What several of these need: one file, since browsers take longer for one more than for its text.
 * React's modules do nothing until they are used, so that what must come before them may do so.
 */
const GROUPS = [
  RENDERER_GROUP,
  {
    name: 'all',
    test: (/** @type {string} */ id) => !REFRESH_FILE.test(id), // that one does something at once
    minShareCount: 2,
  },
];

/** The module that does something when it is imported. */
const EFFECTIVE = /\/browser\/prepare\.js$/;

/** The modules of `hot-runtime.js`: those of a document are in Vite's client. */
const IN_CLIENT = /^\.\/(socket|versions)\.js$/;

/** What other files import of them. */
const SHARED_NAMES = ['isUnfetched', 'standing', 'timingOfDocument', 'versions', 'whenReplaced'];

/** Vite's client at `/_fx/@vite/client`, as files at `/_fx/.fx/dev/runtime/STAMP/` name it. */
export const CLIENT_OF_VITE = '../../../../@vite/client';

const RENDERS = 'renders.cjs';
const CLIENT_PART = 'client.iife';

/** What the file beside the folder ends with that says what was in the folder. */
const SEAL = '.sha256';

/** The modules of React that browsers name. */
const REACT = [
  'react',
  'react/jsx-runtime',
  'react/jsx-dev-runtime',
  'react/compiler-runtime',
  'react-dom',
  'react-dom/client',
];

const WRAPPED = '\0fx:wrapped:';
const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Bundle the runtime, unless that has been done: the folder is named after what it is made of.
 *
 * @param {NodeJS.Require} require of the toolchain
 * @param {string} home folder whose `node_modules` has React
 * @param {string} parent folder to put it into
 * @returns {Promise<string>} its folder
 */
export async function bundleRuntime(require, home, parent) {
  const native = createRequire(path.join(home, 'package.json'));
  const refresh = path.join(
    path.dirname(require.resolve('@vitejs/plugin-react')),
    'refresh-runtime.js',
  );
  const target = path.join(parent, stampOf(native, refresh));
  if (isWhole(target)) return target;
  remove(target); // it has been damaged
  const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
  const { build } = await import(pathToFileURL(rolldown).href);
  const part = `${target}.${process.pid}.part`; // another `fx dev` of the project may do the same
  const shared = {
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  };
  const names = { entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' };
  const modules = reactModules(home).map((name) => [entryOf(name), `${WRAPPED}${name}`]);
  await build({
    ...shared,
    treeshake: { moduleSideEffects: [{ test: EFFECTIVE, sideEffects: true }] },
    plugins: [rendererPlugin, wrappedPlugin(home, native), refreshPlugin(refresh), clientPlugin],
    input: { ...INPUT, ...Object.fromEntries(modules) },
    output: { dir: part, format: 'esm', ...names, codeSplitting: { groups: GROUPS } },
  });
  await build({
    ...shared,
    input: HOT,
    output: { file: `${part}/${CLIENT_PART}`, format: 'iife', name: 'fx' },
  });
  await build({
    ...shared,
    external: [/^react/, /^node:/],
    input: SERVER,
    output: { file: `${part}/${RENDERS}`, format: 'cjs' },
  });
  put(part, target);
  fs.writeFileSync(`${target}${SEAL}`, digestOf(target));
  for (const name of fs.readdirSync(parent)) {
    const other = path.join(parent, name);
    if (!other.startsWith(target) && !name.endsWith('.part')) remove(other);
  }
  return target;
}

/**
 * @param {NodeJS.Require} native finds React
 * @param {string} refresh file of the runtime of React Fast Refresh
 * @returns {string} of all that the runtime is made of
 */
function stampOf(native, refresh) {
  const digest = createHash('sha256');
  for (const folder of [CLIENT, RENDER, BROWSER]) {
    const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const name of names.sort()) {
      if (name.endsWith('.js')) digest.update(fs.readFileSync(path.join(folder, name)));
    }
  }
  for (const file of [MAIN, HOT, SERVER, refresh, ...RULES]) {
    digest.update(fs.readFileSync(file));
  }
  for (const name of LIBRARY.packages) {
    digest.update(`${native.resolve(name)} ${native(`${name}/package.json`).version}\n`);
  }
  return digest.digest('hex').slice(0, 16);
}

/**
 * Return whether a folder is as it was when it had been made.
 *
 * @param {string} folder
 */
function isWhole(folder) {
  try {
    return fs.readFileSync(`${folder}${SEAL}`, 'utf8') === digestOf(folder);
  } catch {
    return false; // there is none, or it cannot be read
  }
}

/**
 * @param {string} folder
 * @returns {string} of the names of its files and of what is in them
 */
function digestOf(folder) {
  const digest = createHash('sha256');
  for (const name of fs.readdirSync(folder).sort()) {
    const data = fs.readFileSync(path.join(folder, name));
    digest.update(`${name} ${data.length}\n`).update(data);
  }
  return digest.digest('hex');
}

/**
 * Return the modules of React that are bundled with the runtime: those that there are.
 *
 * @param {string} home
 */
export function reactModules(home) {
  const { resolve } = createRequire(path.join(home, 'package.json'));
  return REACT.filter((name) => {
    try {
      return Boolean(resolve(name));
    } catch {
      return false; // it came with a later version
    }
  });
}

/**
 * Return the file of a module of React in the folder of the runtime.
 *
 * @param {string} runtime
 * @param {string} name
 */
export function reactFile(runtime, name) {
  return `${runtime}/${entryOf(name)}.js`;
}

/** @param {string} name of a module */
function entryOf(name) {
  return `library-${name.replaceAll('/', '-')}`;
}

/**
 * React has CommonJS modules: each gets one that names what it exports, for imports of browsers.
 *
 * @param {string} home
 * @param {NodeJS.Require} native of that place
 * @returns {any} a plug-in of Rolldown
 */
function wrappedPlugin(home, native) {
  const importer = path.join(home, 'package.json');
  return {
    name: 'fx:wrapped',
    resolveId: {
      filter: { id: [OF_LIBRARY, /^\0fx:wrapped:/] },
      /** @this {any} */
      handler(/** @type {string} */ id) {
        return id.startsWith(WRAPPED) ? id : this.resolve(id, importer, { skipSelf: true });
      },
    },
    load: {
      filter: { id: /^\0fx:wrapped:/ },
      handler(/** @type {string} */ id) {
        const name = id.slice(WRAPPED.length);
        const names = Object.keys(native(name)).filter((one) => NAME.test(one));
        const own = ownRuntime(name, CLIENT);
        const imported =
          own === null
            ? `module from ${JSON.stringify(name)}`
            : `* as module from ${JSON.stringify(own)}`;
        return (
          `import ${imported}; export default module;` +
          `export const { ${names.filter((one) => one !== 'default').join(', ')} } = module;`
        );
      },
    },
  };
}

/**
 * @param {string} file of the React plug-in, which does not export all that is needed
 * @returns {any} a plug-in of Rolldown
 */
function refreshPlugin(file) {
  return {
    name: 'fx:refresh',
    resolveId: { filter: { id: /^\/@react-refresh$/ }, handler: () => file },
    transform: {
      filter: { id: REFRESH_FILE },
      handler: (/** @type {string} */ code) => `${code}\nexport { performReactRefresh };`,
    },
  };
}

/** Files import from Vite's client what it has already. */
const clientPlugin = {
  name: 'fx:client',
  resolveId: {
    filter: { id: IN_CLIENT },
    handler: (/** @type {string} */ _id, /** @type {string} */ importer) =>
      path.dirname(importer) === BROWSER ? { id: CLIENT_OF_VITE, external: true } : null,
  },
};

/**
 * Return the code of Vite's client with our part in it, whose names are its own.
 *
 * @param {string} code
 * @param {string} runtime folder of the bundle
 * @param {string} base URL prefix of modules
 */
export function extendedClient(code, runtime, base) {
  const part = fs.readFileSync(path.join(runtime, CLIENT_PART), 'utf8');
  return (
    `${part}\nexport const { ${SHARED_NAMES.join(', ')} } = fx;\n` +
    `const WebSocket = fx.hotSocket(${JSON.stringify(base)});\n${code}` +
    `\nfx.follow(hmrClient, HMRContext, updateStyle);\n`
  );
}

/**
 * Put a folder in its place, unless somebody else has put the same there meanwhile.
 *
 * @param {string} part
 * @param {string} target
 */
export function put(part, target) {
  try {
    fs.renameSync(part, target);
  } catch (error) {
    if (!fs.existsSync(target)) throw error;
    remove(part);
  }
}

/** @param {string} folder */
function remove(folder) {
  fs.rmSync(folder, { recursive: true, force: true });
}

/**
 * Return what renders use of the runtime: as Node runs it, without the detour over Vite, which
 * takes longer than the first render.
 *
 * @param {string} runtime folder of the bundle
 * @param {NodeJS.Require} require finds React
 * @returns {typeof import('./server-runtime.js')}
 */
export function loadServerRuntime(runtime, require) {
  const filename = path.join(runtime, RENDERS);
  const names = ['exports', 'require', 'module'];
  const run = compileFunction(fs.readFileSync(filename, 'utf8'), names, { filename });
  const module = { exports: {} };
  run(module.exports, require, module);
  return /** @type {any} */ (module.exports);
}
