/** Node's built-in modules in UI code: renders could load them, and browsers have none. */

import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';

const READ =
  'Read it in an @server function of the server half, and return the data that the page shows';
const DO =
  'Do it in Python, in an @server function or an @action, and return the data that the page shows';

/** By module, without "node:": what to do instead. @type {Record<string, string>} */
const REMEDIES = {
  fs: READ,
  'fs/promises': READ,
  crypto: "Browsers have 'crypto.subtle' and 'crypto.randomUUID()' without an import",
  url: "Browsers have 'URL' and 'URLSearchParams' without an import",
  querystring: "Browsers have 'URLSearchParams' without an import",
  timers: "Browsers have 'setTimeout' and 'setInterval' without an import",
  perf_hooks: "Browsers have 'performance' without an import",
};

/** Those of which there are packages of the same name. */
const PACKAGES = new Set(['assert', 'buffer', 'events', 'punycode', 'string_decoder', 'util']);

/**
 * Return what to do about an import of a module of Node; undefined for any other.
 *
 * @param {string} specifier
 * @param {string} folder of the importing file: a package may have the name of a module
 * @returns {string | undefined}
 */
export function builtinRemedy(specifier, folder) {
  if (!isBuiltin(specifier)) return undefined;
  const name = specifier.replace(/^node:/, '');
  if (name === specifier && isInstalled(name, folder)) return undefined;
  if (PACKAGES.has(name)) return `Run 'npm install ${name}', and write '${name}'`;
  return REMEDIES[name] ?? DO;
}

/**
 * Whether a package is in a `node_modules` folder that an importing file can see.
 *
 * @param {string} name
 * @param {string} folder of the file
 */
export function isInstalled(name, folder) {
  for (let here = folder; ; here = path.dirname(here)) {
    if (fs.existsSync(path.join(here, 'node_modules', name))) return true;
    if (here === path.dirname(here)) return false;
  }
}
