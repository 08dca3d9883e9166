/** Vite's development server, as `fx dev` needs it: no port, no watcher, no files but modules. */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { reactHome } from '../vite/packages.js';
import { developmentPlugins } from './plugins.js';

const CLIENT = fileURLToPath(new URL('../client', import.meta.url));
const RENDER = fileURLToPath(new URL('../render', import.meta.url));
const BROWSER = fileURLToPath(new URL('./browser', import.meta.url));

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

const REACT = [
  'react',
  'react-dom',
  'react-dom/client',
  'react/jsx-runtime',
  'react/jsx-dev-runtime',
];

/**
 * @param {import('./settings.js').Settings} settings
 * @param {import('./site.js').Site} site
 * @param {import('./browsers.js').Browsers} browsers
 * @param {import('node:events').EventEmitter} settled
 */
export async function makeServer(settings, site, browsers, settled) {
  const { root, folder, base, toolchain } = settings;
  const require = createRequire(path.join(toolchain, 'package.json'));
  const load = (/** @type {string} */ name) => import(pathToFileURL(require.resolve(name)).href);
  /** @type {[typeof import('vite'), any]} */
  const [vite, react] = await Promise.all([load('vite'), load('@vitejs/plugin-react')]);
  const clientDir = await bundleClient(require, path.join(folder, 'runtime'));
  const home = reactHome(root, toolchain);
  const fxl = developmentPlugins({
    settings,
    site,
    vite,
    home,
    clientDir,
    browser: BROWSER,
    require,
  });
  const server = await vite.createServer({
    ...{ root, base, configFile: false, appType: 'custom', publicDir: false, mode: 'development' },
    cacheDir: path.join(folder, 'vite'),
    logLevel: 'silent',
    envPrefix: ['VITE_', 'FX_PUBLIC_'],
    envDir: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: {
      alias: [
        { find: /^fx\/client$/, replacement: `${clientDir}/index.js` },
        { find: /^@\//, replacement: `${root}/` },
      ],
      extensions: ['.mjs', '.js', '.mts', '.ts', '.jsx', '.tsx', '.json'],
    },
    plugins: [
      ...fxl,
      react.default({
        include: /\.[tj]sx?$/,
        exclude: [/\/node_modules\//, /\.fxl\.tsx$/, inside(clientDir), inside(BROWSER)],
      }),
    ],
    oxc: { exclude: [/\.js$/, /\.fxl\.tsx$/] },
    server: serverOptions([root, clientDir, BROWSER, toolchain], settled),
    optimizeDeps: { include: [], entries: [], noDiscovery: false },
    environments: environments(vite, browsers),
  });
  const native = createRequire(path.join(home, 'package.json'));
  // `include` would look for React below the project only.
  for (const name of REACT) {
    const { depsOptimizer } = server.environments.client;
    depsOptimizer?.registerMissingImport(name, native.resolve(name));
  }
  return { vite, server, clientDir };
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
    fs: { strict: true, allow, deny: DENIED },
    async hotUpdateEnvironments(dev, update) {
      await update(dev.environments.ssr); // a document that is loaded next is new already
      await update(dev.environments.client);
      settled.emit('told');
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
        exclude: [...REACT, 'react-dom/server.node'],
      },
    },
  };
}

/** @param {string} folder */
function inside(folder) {
  return new RegExp(`^${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/`);
}

/**
 * Bundle the client runtime, which does not change, into a few files: browsers would load fifty.
 *
 * @param {NodeJS.Require} require of the toolchain
 * @param {string} parent folder to put it into
 * @returns {Promise<string>} its folder
 */
async function bundleClient(require, parent) {
  const input = {
    index: `${CLIENT}/index.js`,
    start: `${CLIENT}/start.js`,
    renderers: `${RENDER}/renderers.js`,
  };
  const digest = createHash('sha256');
  for (const folder of [CLIENT, RENDER]) {
    for (const name of fs.readdirSync(folder).sort()) {
      if (name.endsWith('.js')) digest.update(fs.readFileSync(path.join(folder, name)));
    }
  }
  const target = path.join(parent, digest.digest('hex').slice(0, 16));
  if (fs.existsSync(target)) return target;
  const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
  const { build } = await import(pathToFileURL(rolldown).href);
  fs.rmSync(parent, { recursive: true, force: true });
  const part = `${target}.part`;
  await build({
    input,
    external: [/^react/, /^node:/],
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    output: {
      dir: part,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'shared-[hash].js',
      sourcemap: true,
    },
  });
  fs.renameSync(part, target);
  return target;
}
