/** Everything of a running app, put together once for a document. */

import { Browser } from './navigation/browser.js';
import { HeadStore } from './head/store.js';
import { Modules } from './navigation/modules.js';
import { Payloads } from './navigation/payloads.js';
import { Router } from './navigation/router.js';
import { Screen } from './app.js';
import { requestVisit } from './navigation/visit.js';

/** @typedef {import('./types.js').State} State */

/**
 * @typedef {object} Runtime
 * @property {string} base
 * @property {string} nonce of the document; those of navigation payloads are none
 * @property {Router} router
 * @property {Payloads} payloads
 * @property {import('./navigation/loads.js').Loads} [loads] made by the first `useLoader`
 * @property {Modules} modules
 * @property {HeadStore} head
 * @property {Screen} screen
 * @property {import('./head/scripts.js').Scripts} [scripts] made by the first `Script`
 * @property {import('./auth/auth-store.js').AuthStore} [auth] made by the first `useAuth`
 * @property {() => void} stop removes every listener
 * @property {true} [isIsland] whether it is that of islands, whose document is loaded as a whole
 */

const now = () => performance.now();

/**
 * Put an app together and let it listen to the browser's history.
 *
 * @param {object} options
 * @param {Window & typeof globalThis} options.window
 * @param {State} options.state what the document was rendered from
 * @param {string} options.base
 * @param {boolean} options.rendered whether the server has rendered the page
 * @param {(url: string) => Promise<import('./types.js').Module>} options.importModule
 * @returns {Runtime}
 */
export function createRuntime({ window, state, base, rendered, importModule }) {
  const { document } = window;
  const nonce = state.nonce ?? '';
  const modules = new Modules({ document, importModule, styles: state.page.css ?? [] });
  const screen = new Screen();
  const fetch = window.fetch.bind(window);
  const app = { fetch, base, build: state.page.build, exported: state.page.exported };
  const payloads = new Payloads((url, options) => requestVisit(url, { ...options, ...app }), now);
  const browser = new Browser(window, () => void router.pop());
  const router = new Router({
    base,
    payloads,
    stage: {
      url: () => browser.url(),
      keepScroll: () => browser.keepScroll(),
      push: (url) => browser.push(url),
      replace: (url) => browser.replace(url),
      leave: (url) => browser.leave(url),
      reload: () => browser.reload(),
      load: (page) => modules.load(page),
      preload: (page) => modules.preload(page),
      show: (view, held) => screen.show(view, held),
      arrive: (arrival) => browser.arrive(arrival),
      state: () => screen.view?.state ?? state,
      refreshBeside: async () => runtime.loads?.refresh(),
    },
  });
  browser.start();
  const head = openHead(state, rendered, nonce);
  const stop = () => {
    browser.stop();
    head.stop();
  };
  // What not every app uses is made where it is used: the code of others is not in their bundles.
  /** @type {Runtime} */
  const runtime = { base, nonce, router, payloads, modules, screen, head, stop };
  return runtime;
}

/**
 * @param {import('./types.js').State} state of the document
 * @param {boolean} rendered whether its head is that of the state
 * @param {string} nonce
 */
function openHead({ head, page }, rendered, nonce) {
  const values = rendered ? head : [];
  return new HeadStore({ document, values, own: head, nonce, lang: page.lang });
}
