/** The plug-in that decides which React an app gets: its own, or the toolchain's. */

import { createRequire } from 'node:module';
import path from 'node:path';

import { LIBRARY, OF_LIBRARY } from '../../worker/library.js';

/**
 * Return the folder whose `node_modules` React comes from. React and its renderer must be of
 * the same version, so an app that has only one of them gets both from the toolchain.
 *
 * @param {string} root
 * @param {string} toolchain
 * @returns {string}
 * @throws {Error} when the app's React is too old, or of two versions
 */
export function reactHome(root, toolchain) {
  const require = createRequire(path.join(root, 'package.json'));
  /** @type {string[]} */
  const versions = [];
  for (const name of LIBRARY.packages) {
    let version;
    try {
      ({ version } = require(`${name}/package.json`));
    } catch {
      return toolchain; // not installed
    }
    if (Number.parseInt(version, 10) < LIBRARY.oldestMajor) {
      throw new Error(
        `node_modules has ${name} ${version}. Install version ${LIBRARY.oldestMajor} or newer, ` +
          `or remove it: fxtrio includes its own.`,
      );
    }
    versions.push(version);
  }
  if (new Set(versions).size > 1) {
    const found = LIBRARY.packages.map((name, index) => `${name} ${versions[index]}`).join(' and ');
    throw new Error(
      `node_modules has ${found}. Install the same version of both, or remove them: ` +
        `fxtrio includes its own.`,
    );
  }
  return root;
}

/**
 * Resolve `react` and `react-dom` in one place for all importers, the packages of the app and
 * fxtrio's own client included, so that there is one copy.
 *
 * Browsers get elements whose URLs have the path that the app is served below
 * (`client/view/base/elements.js`), whoever makes them.
 *
 * @param {string} home folder whose `node_modules` has them
 * @param {string} client folder of the client runtime
 * @returns {import('vite').Plugin}
 */
export function packagesPlugin(home, client) {
  const importer = path.join(home, 'package.json');
  return {
    name: 'fx:packages',
    enforce: 'pre',
    resolveId: {
      filter: { id: OF_LIBRARY },
      handler(source, from, options) {
        const own = ownRuntime(source, client);
        const forBrowsers = this.environment.config.consumer === 'client';
        if (own !== null && forBrowsers && from !== own) return own;
        return this.resolve(source, importer, { ...options, skipSelf: true });
      },
    },
  };
}

/**
 * Return the module that stands for one of React in browsers; null for most.
 *
 * @param {string} name
 * @param {string} client folder of the client runtime
 */
export function ownRuntime(name, client) {
  const [, file] = /^react\/(jsx-(?:dev-)?runtime)$/.exec(name) ?? [];
  return file === undefined ? null : `${client}/view/base/${file}.js`;
}
