/**
 * Dependency discovery: the packages that page files and their components import, registered with
 * Vite before anybody opens those pages. A package that Vite meets later makes it bundle all of
 * them once more, and may reload every open page.
 */

import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';

import { requestsOf } from '../../vite/requests.js';
import { moduleFile } from '../../check/imports/specifiers.js';
import { OF_LIBRARY } from '../../worker/library.js';

/** @typedef {import('vite').Plugin} Plugin */
/** @typedef {[specifier: string, importer: string][]} Packages */

/** The same in both processes: Vite's cache is for plug-ins of the same names in one order. */
const OWN = /** @type {const} */ ({ name: 'fx:discovery', enforce: 'pre' });

/** How long nothing may have been requested until packages are bundled that no page needs (ms). */
const QUIET_MS = 1000;
/** A page may ask for something every second (ms). */
const LONGEST_MS = 10_000;

const FILE = /^(\.|@\/)/;
const CODE = /(?<!\.d)\.(m?[jt]s|[jt]sx)$/;
/** Addresses, what a package defines itself, and what fxtrio and React are made of. */
const OTHER = /^([/#]|\w[\w+.-]*:|fx\/client$)/;
const PACKAGE = /^[\w@]/;

/**
 * Return what is settled when nothing has been requested for a while, or requests have come for
 * long, and what is to be called at each request; before the first one it waits.
 *
 * @param {number} ms
 * @param {number} longest (ms)
 */
export function quietness(ms = QUIET_MS, longest = LONGEST_MS) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {NodeJS.Timeout | undefined} */
  let last;
  let requested = () => {};
  /** @type {Promise<void>} */
  const quiet = new Promise((resolve) => {
    requested = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, ms);
      timer.unref();
      last ??= setTimeout(resolve, longest).unref();
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
 * @param {import('../site.js').Site} project.site
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
 * Let the packages of all pages be bundled at once: when a page needs one of them, or when the
 * first page has been shown. Whoever imports one waits for that. It is the work of another process
 * (`bundle-packages.js`): the bundler keeps half a gigabyte when it has bundled large packages.
 *
 * When a package cannot be bundled, Vite gives up all of them. Then pages register their own
 * packages when they are opened, and that package fails its page.
 *
 * @param {import('../site.js').Site} site
 * @param {string} root of the project
 * @param {Promise<unknown>} quiet settled when nobody waits for the first page any more
 * @param {(packages: Packages) => Promise<unknown>} bundle settled when Vite's cache has them, or
 *   cannot have them
 * @returns {(parse: typeof import('vite').parseSync) => Plugin}
 */
export function discoverPackages(site, root, quiet, bundle) {
  const needed = new EventEmitter();
  /** @type {Promise<unknown>} */
  let ready = Promise.resolve();
  return (parse) => ({
    ...OWN,
    resolveId: {
      filter: { id: PACKAGE },
      async handler(id, importer = '') {
        if (!CODE.test(importer) || !isPackage(id)) return null;
        needed.emit('package');
        await ready;
        return null;
      },
    },
    configureServer({ environments }) {
      const all = Object.values(environments);
      const found = Promise.race([once(needed, 'package'), quiet])
        .then(() => site.planned)
        .then(() => importedPackages(site.sources, { root, site, parse }));
      if (all.every(isBundled)) {
        // Pages may import others since.
        void found.then((packages) => all.map((environment) => register(environment, packages)));
        return;
      }
      const inits = all.map(({ depsOptimizer }) => later(depsOptimizer));
      ready = found
        .then((packages) => packages.size > 0 && bundle([...packages]))
        .then(() => Promise.all(inits.map((init) => init())));
    },
  });
}

/**
 * Register packages with Vite before it bundles any, in a process that does nothing else.
 *
 * @param {Packages} packages
 * @returns {() => Plugin}
 */
export function registerPackages(packages) {
  return () => ({
    ...OWN,
    configureServer({ environments }) {
      for (const environment of Object.values(environments)) {
        const whenIdle = environment.waitForRequestsIdle.bind(environment);
        /** @type {Promise<void> | undefined} */
        let registered;
        environment.waitForRequestsIdle = (id) => {
          registered ??= register(environment, packages); // Vite asks when it takes packages
          return registered.then(() => whenIdle(id));
        };
      }
    },
  });
}

/**
 * Resolve packages as their importers would, by which Vite registers them.
 *
 * @param {import('vite').DevEnvironment} environment
 * @param {Iterable<[string, string]>} packages
 */
async function register({ pluginContainer }, packages) {
  for (const [specifier, importer] of packages) {
    // Whoever opens the page learns what is wrong.
    await pluginContainer.resolveId(specifier, importer).catch(() => null);
  }
}

/**
 * Wait until what is registered has been bundled; return whether it could be.
 *
 * @param {import('vite').DevEnvironment} environment
 */
export async function waitBundled(environment) {
  await environment.waitForRequestsIdle();
  const { depsOptimizer } = environment;
  const bundled = Object.values(depsOptimizer?.metadata.discovered ?? {});
  await Promise.all(bundled.map(({ processing }) => processing));
  const { optimized = {} } = depsOptimizer?.metadata ?? {};
  return bundled.every(({ id }) => id in optimized);
}

/**
 * Whether Vite's cache has packages that were bundled with the same settings.
 *
 * @param {import('vite').DevEnvironment} environment
 */
function isBundled({ name, config, depsOptimizer }) {
  const folder = name === 'client' ? 'deps' : `deps_${name}`;
  try {
    const text = readFileSync(path.join(config.cacheDir, folder, '_metadata.json'), 'utf8');
    const { lockfileHash, configHash } = JSON.parse(text);
    const now = depsOptimizer?.metadata;
    return lockfileHash === now?.lockfileHash && configHash === now?.configHash;
  } catch {
    return false; // there is none
  }
}

/**
 * Keep Vite from looking into its cache, and from bundling, until what is returned is called.
 *
 * @param {import('vite').DevEnvironment['depsOptimizer']} depsOptimizer
 */
function later(depsOptimizer) {
  if (depsOptimizer === undefined) return () => Promise.resolve();
  const init = depsOptimizer.init;
  depsOptimizer.init = () => Promise.resolve();
  return init;
}
