/**
 * Dependency discovery: the packages that page files and their components import, registered with
 * Vite before anybody opens those pages. A package that Vite meets later makes it bundle all of
 * them once more, and may reload every open page.
 */

import { EventEmitter, once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';

import { requestsOf } from '../vite/requests.js';
import { moduleFile } from '../vite/specifiers.js';
import { OF_LIBRARY } from '../worker/library.js';

/** How long nothing may have been requested until packages are bundled that no page needs (ms). */
const QUIET_MS = 1000;

const FILE = /^(\.|@\/)/;
const CODE = /(?<!\.d)\.(m?[jt]s|[jt]sx)$/;
/** Addresses, what a package defines itself, and what fxtrio and React are made of. */
const OTHER = /^([/#]|\w[\w+.-]*:|fx\/client$)/;
const PACKAGE = /^[\w@]/;

/**
 * Return what is settled when nothing has been requested for a while, and what is to be called at
 * each request; before the first one it waits.
 *
 * @param {number} ms
 */
export function quietness(ms = QUIET_MS) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let requested = () => {};
  /** @type {Promise<void>} */
  const quiet = new Promise((resolve) => {
    requested = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, ms);
      timer.unref();
    };
  });
  return { quiet, requested };
}

/** @param {string} specifier */
function isPackage(specifier) {
  return !FILE.test(specifier) && !OTHER.test(specifier) && !OF_LIBRARY.test(specifier);
}

/**
 * Return the packages that page files import, by themselves or through other files of the project:
 * the id of one importer by specifier.
 *
 * @param {Iterable<string>} sources of page files
 * @param {object} project
 * @param {string} project.root
 * @param {import('./site.js').Site} project.site
 * @param {typeof import('vite').parseSync} project.parse
 * @returns {Promise<Map<string, string>>}
 */
export async function importedPackages(sources, { root, site, parse }) {
  /** @type {Map<string, string>} */
  const packages = new Map();
  const files = new Map([...sources].map((source) => [site.idOf(source), site.stagedAt(source)]));
  for (const [id, file] of files) {
    const text = await fs.readFile(file, 'utf8').catch(() => ''); // it has been deleted meanwhile
    const { module } = parse(file, text, { lang: /\.m?ts$/.test(file) ? 'ts' : 'tsx' });
    for (const { value } of requestsOf(module, text)) {
      if (FILE.test(value)) {
        const imported = moduleFile(value, root, path.dirname(id));
        if (imported !== undefined && CODE.test(imported)) files.set(imported, imported);
      } else if (isPackage(value) && !packages.has(value)) packages.set(value, id);
    }
  }
  return packages;
}

/**
 * Register the packages of all pages with Vite, whose first bundle waits for that: until a page
 * needs one of them, or the first page has been shown.
 *
 * @param {import('./site.js').Site} site
 * @param {string} root of the project
 * @param {typeof import('vite').parseSync} parse
 * @param {Promise<unknown>} quiet settled when nobody waits for the first page any more
 * @returns {import('vite').Plugin}
 */
export function discoveryPlugin(site, root, parse, quiet) {
  const needed = new EventEmitter();
  return {
    name: 'fx:discovery',
    enforce: 'pre',
    resolveId: {
      filter: { id: PACKAGE },
      handler(id, importer = '') {
        if (CODE.test(importer) && isPackage(id)) needed.emit('package');
        return null;
      },
    },
    configureServer({ environments }) {
      const begun = Promise.race([once(needed, 'package'), quiet]);
      const found = begun
        .then(() => site.planned)
        .then(() => importedPackages(site.sources, { root, site, parse }));
      for (const environment of Object.values(environments)) {
        const registered = found.then((packages) => register(environment, packages));
        const whenIdle = environment.waitForRequestsIdle.bind(environment);
        environment.waitForRequestsIdle = (id) => registered.then(() => whenIdle(id));
      }
    },
  };
}

/**
 * Resolve packages as their importers would, by which Vite registers them.
 *
 * @param {import('vite').DevEnvironment} environment
 * @param {Map<string, string>} packages
 */
async function register({ pluginContainer }, packages) {
  for (const [specifier, importer] of packages) {
    // Whoever opens the page learns what is wrong.
    await pluginContainer.resolveId(specifier, importer).catch(() => null);
  }
}

/**
 * Go on without discovery when a package cannot be bundled, for which Vite gives up all of them:
 * then pages register their own packages when they are opened, and that package fails its page.
 *
 * @param {import('vite').DevEnvironment} environment
 */
export async function recoverFromFailure(environment) {
  await environment.waitForRequestsIdle();
  const { depsOptimizer, moduleGraph, hot } = environment;
  const bundled = Object.values(depsOptimizer?.metadata.discovered ?? {});
  await Promise.all(bundled.map(({ processing }) => processing));
  const { optimized = {} } = depsOptimizer?.metadata ?? {};
  if (bundled.every(({ id }) => id in optimized)) return;
  moduleGraph.invalidateAll(); // modules name packages that there are not
  if (environment.config.consumer === 'client') hot.send({ type: 'full-reload' });
}
