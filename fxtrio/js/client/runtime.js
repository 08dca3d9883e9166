/** Everything of a running app, put together once for a document. */

import { Browser } from './navigation/browser.js';
import { HeadStore } from './head/store.js';
import { LazyRouter } from './navigation/lazy-router.js';
import { Modules } from './navigation/modules.js';
import { Screen } from './app.js';

/** @typedef {import('./types.js').State} State */

/**
 * @typedef {object} Runtime
 * @property {string} base
 * @property {string} nonce of the document; those of navigation payloads are none
 * @property {LazyRouter} router
 * @property {LazyRouter['payloads']} payloads
 * @property {import('./navigation/loads.js').Loads} [loads] made by the first `useLoader`
 * @property {Modules} modules
 * @property {HeadStore} head
 * @property {Screen} screen
 * @property {import('./head/scripts.js').Scripts} [scripts] made by the first `Script`
 * @property {import('./auth/auth-store.js').AuthStore} [auth] made by the first `useAuth`
 * @property {() => void} stop removes every listener
 * @property {true} [isIsland] whether it is that of islands, whose document is loaded as a whole
 */

/** What a visitor does who may navigate next. */
const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'focusin', 'scroll'];

/**
 * Put an app together and let it listen to the browser's history.
 *
 * @param {object} options
 * @param {Window & typeof globalThis} options.window
 * @param {State} options.state what the document was rendered from
 * @param {string} options.base
 * @param {boolean} options.rendered whether the server has rendered the page
 * @param {(url: string) => Promise<import('./types.js').Module>} options.importModule
 * @param {() => Promise<typeof import('./navigation/visits/visits.js')>} options.visits loads what
 *   navigations need
 * @returns {Runtime}
 */
export function createRuntime({ window, state, base, rendered, importModule, visits }) {
  const { document } = window;
  const nonce = state.nonce ?? '';
  const modules = new Modules({ document, importModule, styles: state.page.css ?? [] });
  const screen = new Screen();
  const app = { base, build: state.page.build, exported: state.page.exported };
  const browser = new Browser(window, () => void router.pop());
  /** @type {Parameters<typeof import('./navigation/visits/visits.js').makeVisits>[0]['stage'] & { stay(): void }} */
  const stage = {
    url: () => browser.url(),
    keepScroll: () => browser.keepScroll(),
    push: (url) => browser.push(url),
    replace: (url) => browser.replace(url),
    leave: (url, replace) => browser.leave(url, replace),
    reload: () => browser.reload(),
    stay: () => browser.stay(),
    load: (page) => modules.load(page),
    preload: (page) => modules.preload(page),
    show: (view, held) => screen.show(view, held),
    state: () => screen.view?.state ?? state,
    refreshBeside: async () => runtime.loads?.refresh(),
  };
  const load = async () => {
    const { makeVisits } = await visits();
    return makeVisits({ window, browser, stage, app, shown: router.shown });
  };
  /** @type {LazyRouter} */
  const router = new LazyRouter({ base, stage, load });
  const { payloads } = router;
  browser.start();
  const writers = async () => (await visits()).HeadWriter;
  const head = openHead(document, state, rendered, nonce, writers);
  const early = { capture: true, passive: true };
  /** @param {any} event */
  const ready = ({ type, movementX, movementY }) => {
    // Browsers let a pointer that rests tell what has come below it.
    if (type === 'pointermove' && !movementX && !movementY) return;
    window.removeEventListener(type, ready, early);
    router.ready().catch(() => {}); // tried again when it is needed
  };
  for (const sign of SIGNS) window.addEventListener(sign, ready, early);
  const stop = () => {
    browser.stop();
    head.stop();
    for (const sign of SIGNS) window.removeEventListener(sign, ready, early);
  };
  // What not every app uses is made where it is used: the code of others is not in their bundles.
  /** @type {Runtime} */
  const runtime = { base, nonce, router, payloads, modules, screen, head, stop };
  return runtime;
}

/**
 * @param {Document} document
 * @param {import('./types.js').State} state of it
 * @param {boolean} rendered whether its head is that of the state
 * @param {string} nonce
 * @param {() => Promise<import('./head/store.js').Writers>} load
 */
function openHead(document, { head, page }, rendered, nonce, load) {
  const values = rendered ? head : [];
  return new HeadStore({ document, values, own: head, nonce, lang: page.lang, load });
}
