/**
 * How new the text of a module is. The URL that a browser has asked for does not say it: the file may
 * have been saved since, before its text was read.
 */

import { AsyncLocalStorage } from 'node:async_hooks';

/** @type {AsyncLocalStorage<number>} */
const requested = new AsyncLocalStorage();

/**
 * Return Vite's time stamp of the last change of the module that is being made, as it was before
 * its text was read: what has changed since may be missing in it. 0 for one that has not changed.
 */
export function stampOfText() {
  return requested.getStore() ?? 0;
}

/**
 * Return an environment of Vite that knows `stampOfText` in the hooks of its plug-ins.
 *
 * @param {typeof import('vite').DevEnvironment} DevEnvironment
 */
export function stamping(DevEnvironment) {
  return class extends DevEnvironment {
    /** @param {string} url */
    transformRequest(url) {
      return requested.run(this.#stampOf(url), () => super.transformRequest(url));
    }

    /** @param {string} url */
    warmupRequest(url) {
      return requested.run(this.#stampOf(url), () => super.warmupRequest(url));
    }

    /** @param {string} url */
    #stampOf(url) {
      return this.moduleGraph.urlToModuleMap.get(url)?.lastHMRTimestamp ?? 0;
    }
  };
}
