/**
 * What never changes while a page is worked on, in a few files: the client runtime, and what
 * only development adds to it. Browsers would load sixty.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';

const CLIENT = fileURLToPath(new URL('../client', import.meta.url));
const RENDER = fileURLToPath(new URL('../render', import.meta.url));
const BROWSER = fileURLToPath(new URL('./browser', import.meta.url));

/** What renders use, in one file. */
const SERVER = fileURLToPath(new URL('./server-runtime.js', import.meta.url));

/** The files that browsers name, by their name in the bundle. */
const INPUT = {
  index: `${CLIENT}/index.js`,
  start: `${CLIENT}/start.js`,
  prepare: `${BROWSER}/prepare.js`,
  develop: `${BROWSER}/develop.js`,
  latest: `${BROWSER}/latest.js`,
  socket: `${BROWSER}/socket.js`,
};

const RENDERS = 'renders.cjs';

/**
 * Bundle the runtime, unless that has been done: the folder is named after what it is made of.
 *
 * @param {NodeJS.Require} require of the toolchain
 * @param {string} parent folder to put it into
 * @returns {Promise<string>} its folder
 */
export async function bundleRuntime(require, parent) {
  const digest = createHash('sha256');
  for (const folder of [CLIENT, RENDER, BROWSER]) {
    for (const name of fs.readdirSync(folder).sort()) {
      if (name.endsWith('.js')) digest.update(fs.readFileSync(path.join(folder, name)));
    }
  }
  for (const file of [SERVER, fileURLToPath(import.meta.url)]) digest.update(fs.readFileSync(file));
  const target = path.join(parent, digest.digest('hex').slice(0, 16));
  if (fs.existsSync(target)) return target;
  const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
  const { build } = await import(pathToFileURL(rolldown).href);
  const part = `${target}.${process.pid}.part`; // another `fx dev` of the project may do the same
  const shared = {
    external: [/^react/, /^node:/, '/@react-refresh'],
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  };
  const names = { entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' };
  await build({ ...shared, input: INPUT, output: { dir: part, format: 'esm', ...names } });
  await build({ ...shared, input: SERVER, output: { file: `${part}/${RENDERS}`, format: 'cjs' } });
  put(part, target);
  for (const name of fs.readdirSync(parent)) {
    const other = path.join(parent, name);
    if (!other.startsWith(target) && !name.endsWith('.part')) remove(other);
  }
  return target;
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
