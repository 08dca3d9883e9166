/** Vite's development server, as `fx dev` needs it: no port, no watcher, no files but modules. */

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { documentPlugins } from '../vite/documents.js';
import { fontsPlugin } from '../fonts/plugin.js';
import { Pictures } from '../pictures/plugin.js';
import { reactHome } from '../vite/library/packages.js';
import { developmentPlugins } from './plugins.js';
import { requiredPlugin } from './runtime/react.js';
import { bundleRuntime, loadServerRuntime } from './runtime/runtime.js';

/** What no URL gives, on top of `Access`. */
const DENIED = [
  '.env',
  '.env.*',
  '*.{crt,pem,key}',
  '**/.git/**',
  '**/*.fxl',
  '**/*.{py,pyi,pyc}',
  '**/fx.config.json',
  '**/*.{sqlite,sqlite3,db,log}',
];

/** What is Node's own in renders. */
const NATIVE = [
  'react',
  'react-dom',
  'react-dom/client',
  'react/jsx-runtime',
  'react/jsx-dev-runtime',
];

/**
 * Load what serves modules. It is loaded once, so that whoever knows where it is may begin early.
 *
 * @param {string} toolchain
 * @returns {Promise<[typeof import('vite'), typeof import('vite/module-runner'), any]>}
 */
export function loadTools(toolchain) {
  const require = createRequire(path.join(toolchain, 'package.json'));
  const load = (/** @type {string} */ name) => import(pathToFileURL(require.resolve(name)).href);
  return Promise.all([load('vite'), load('vite/module-runner'), load('@vitejs/plugin-react')]);
}

/**
 * @param {import('./settings.js').Settings} settings
 * @param {import('./site.js').Site} site
 * @param {import('./browsers.js').Browsers} browsers
 * @param {import('node:events').EventEmitter} settled
 * @param {(parse: typeof import('vite').parseSync) => import('vite').Plugin} discovery
 */
export async function makeServer(settings, site, browsers, settled, discovery) {
  const { root, folder, base, toolchain } = settings;
  const require = createRequire(path.join(toolchain, 'package.json'));
  const [vite, runner, react] = await loadTools(toolchain);
  const home = reactHome(root, toolchain);
  const runtime = await bundleRuntime(require, home, path.join(folder, 'runtime'));
  const cacheDir = path.join(folder, 'vite');
  const native = createRequire(path.join(home, 'package.json'));
  const serverRuntime = loadServerRuntime(runtime, native);
  const folders = { home, runtime, cacheDir };
  const known = { settings, site, vite, native, serverRuntime, discovery, ...folders };
  const pictures = new Pictures(settings);
  const server = await vite.createServer({
    ...{ root, base, configFile: false, appType: 'custom', publicDir: false, mode: 'development' },
    cacheDir,
    logLevel: 'silent',
    envPrefix: 'FX_PUBLIC_',
    envDir: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: resolving(root, runtime),
    plugins: [
      ...developmentPlugins(known),
      ...(await documentPlugins(root)),
      pictures.plugin(false),
      fontsPlugin(settings),
      react.default({
        include: /\.[tj]sx?$/,
        exclude: [/\/node_modules\//, /\.(fxl|md)\.tsx$/, inside(runtime), inside(cacheDir)],
      }),
    ],
    oxc: { exclude: [/\.js$/, /\.(fxl|md)\.tsx$/] },
    server: serverOptions([root, runtime, toolchain], settled),
    optimizeDeps: { include: [], entries: [], noDiscovery: false },
    environments: environments(vite, browsers),
  });
  return { vite, runner, server, runtime, serverRuntime, pictures };
}

/**
 * @param {string} root
 * @param {string} runtime
 */
function resolving(root, runtime) {
  return {
    alias: [
      { find: /^fx\/client$/, replacement: `${runtime}/index.js` },
      { find: /^@\//, replacement: `${root}/` },
    ],
    extensions: ['.mjs', '.js', '.mts', '.ts', '.jsx', '.tsx', '.json'],
  };
}

/**
 * @param {string[]} allow folders
 * @param {import('node:events').EventEmitter} settled
 * @returns {import('vite').ServerOptions}
 */
function serverOptions(allow, settled) {
  return {
    middlewareMode: true,
    watch: null,
    ws: false,
    cors: false,
    allowedHosts: true, // the server process has looked at the host
    hmr: { overlay: false },
    forwardConsole: false, // Vite would look for an agent; `browser/develop.js` tells what is thrown
    fs: { strict: true, allow, deny: DENIED },
    async hotUpdateEnvironments(dev, update) {
      await update(dev.environments.ssr); // a document that is loaded next is new already
      await update(dev.environments.client);
      settled.emit('sent');
    },
  };
}

/**
 * @param {typeof import('vite')} vite
 * @param {import('./browsers.js').Browsers} transport
 * @returns {any}
 */
function environments(vite, transport) {
  return {
    client: {
      dev: {
        createEnvironment: (/** @type {string} */ name, /** @type {any} */ config) =>
          new vite.DevEnvironment(name, config, {
            hot: true,
            transport: /** @type {any} */ (transport),
          }),
      },
    },
    ssr: {
      resolve: { noExternal: true },
      optimizeDeps: {
        noDiscovery: false,
        include: [],
        exclude: [...NATIVE, 'react-dom/server.node'],
        rolldownOptions: { plugins: [requiredPlugin()] },
      },
    },
  };
}

/** @param {string} folder */
function inside(folder) {
  return new RegExp(`^${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/`);
}
