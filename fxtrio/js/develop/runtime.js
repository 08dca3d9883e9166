/**
 * What never changes while a page is worked on, in a few files: the client runtime, and what
 * only development adds to it. Browsers would load sixty.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const CLIENT = fileURLToPath(new URL('../client', import.meta.url));
const RENDER = fileURLToPath(new URL('../render', import.meta.url));
const BROWSER = fileURLToPath(new URL('./browser', import.meta.url));

/** The files that others name, by their name in the bundle. */
const INPUT = {
  index: `${CLIENT}/index.js`,
  start: `${CLIENT}/start.js`,
  renderers: `${RENDER}/renderers.js`,
  prepare: `${BROWSER}/prepare.js`,
  develop: `${BROWSER}/develop.js`,
  latest: `${BROWSER}/latest.js`,
  socket: `${BROWSER}/socket.js`,
};

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
  digest.update(fs.readFileSync(fileURLToPath(import.meta.url)));
  const target = path.join(parent, digest.digest('hex').slice(0, 16));
  if (fs.existsSync(target)) return target;
  const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
  const { build } = await import(pathToFileURL(rolldown).href);
  fs.rmSync(parent, { recursive: true, force: true });
  const part = `${target}.part`;
  await build({
    input: INPUT,
    external: [/^react/, /^node:/, '/@react-refresh'],
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    output: {
      dir: part,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'shared-[hash].js',
    },
  });
  fs.renameSync(part, target);
  return target;
}
