/**
 * What stands for the router in a document whose only scripts are islands: each navigation loads a
 * document, and new data comes with it.
 */

import { withBase } from '../../navigation/urls.js';

/** @typedef {import('../../runtime.js').Runtime} Runtime */

const IDLE = Object.freeze({ state: 'idle', to: null });
const nothing = () => {};
const done = async () => {};

/**
 * @param {Window & typeof globalThis} window
 * @param {string} base
 * @param {string} nonce
 * @returns {Runtime} as far as islands use it; who is signed in and scripts are there when they are
 *   asked for
 */
export function documentRuntime({ location }, base, nonce) {
  /**
   * @param {string} href
   * @param {{ replace?: boolean }} [options]
   */
  const navigate = async (href, { replace = false } = {}) => {
    const url = new URL(withBase(href, base), location.href);
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`navigate: ${href} is not a page.`);
    if (url.href === location.href) location.reload();
    else if (replace) location.replace(url.href);
    else location.assign(url.href);
  };
  const router = {
    navigate,
    refresh: async () => location.reload(),
    prefetch: done,
    forgetPrefetched: nothing,
    resolve: () => null, // links and forms are left to the browser
    subscribe: () => nothing,
    snapshot: () => IDLE,
  };
  const payloads = { invalidate: nothing, invalidateTag: nothing };
  const parts = { base, nonce, router, payloads, loads: { refresh: done }, isIsland: true };
  return /** @type {any} */ (parts);
}
