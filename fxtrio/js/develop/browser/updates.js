/** What has changed since the page was shown, gathered, and shown in one step. */

import { flushSync } from 'react-dom';

/** Longest wait for the module of a page whose loader has changed too (ms). */
const TOGETHER_MS = 10_000;

/** @typedef {import('../../client/runtime.js').Runtime} Runtime */

export class Updates {
  #runtime;
  #overlay;
  #refresh;
  /** @type {Promise<any> | null} new data that is on its way */
  #data = null;
  /** @type {object[]} new modules */
  #modules = [];
  /** @type {Set<string>} modules that will come */
  #expected = new Set();
  /** @type {number | undefined} */
  #timer;

  /**
   * @param {object} options
   * @param {Runtime} options.runtime
   * @param {import('./overlay.js').Overlay} options.overlay
   * @param {() => void} options.refresh lets React use the new components
   */
  constructor({ runtime, overlay, refresh }) {
    this.#runtime = runtime;
    this.#overlay = overlay;
    this.#refresh = refresh;
  }

  /**
   * A page module has been updated.
   *
   * @param {string} url
   * @param {object} module
   */
  addModule(url, module) {
    this.#modules.push(module);
    this.#expected.delete(url);
    this.#schedule();
  }

  /**
   * Loaders have changed: fetch the data of this page anew, if they are its own.
   *
   * @param {{ sources: string[] | null, expected: string[] }} change URLs of modules; those of
   *   `expected` follow as modules. `sources` null stands for all pages.
   */
  addData({ sources, expected }) {
    const shown = this.#shownModules();
    const others = sources !== null && !shown.some((url) => sources.includes(url));
    // What has gone wrong may have done so in any file.
    if (others && !this.#isWrong && !this.#overlay.isPassing) return;
    this.#overlay.clear();
    this.#data = this.#fetch();
    for (const url of expected) if (shown.includes(url)) this.#expected.add(url);
    this.#schedule();
  }

  /** A module cannot be loaded: nothing waits for it any more. */
  addFailure() {
    if (this.#expected.size === 0) return;
    this.#expected.clear();
    this.#schedule();
  }

  /** Something has changed: an error view asks whether its page can be shown now. */
  retry() {
    if (this.#isWrong && this.#data === null) this.addData({ sources: null, expected: [] });
  }

  /** Whether an error view is shown in the place of a page. */
  get #isWrong() {
    const state = this.#runtime.screen.view?.state;
    return state !== undefined && !state.ok;
  }

  #schedule() {
    clearTimeout(this.#timer);
    const pause = this.#expected.size > 0 ? TOGETHER_MS : 0;
    this.#timer = window.setTimeout(() => void this.#apply(), pause);
  }

  async #apply() {
    const [data, modules] = [this.#data, this.#modules];
    if (modules.length > 0) this.#overlay.clear(); // what the code before them has thrown
    this.#data = null;
    this.#modules = [];
    this.#expected.clear();
    const { screen } = this.#runtime;
    const state = data === null ? screen.view?.state : await data;
    if (!state) {
      if (modules.length > 0) flushSync(this.#refresh);
      return;
    }
    const parts = await this.#runtime.modules.load(state.page);
    flushSync(() => {
      // Of new modules everything is taken: slots, MEMO, and components without a name.
      screen.replace({ state, parts });
      if (modules.length > 0) this.#refresh();
    });
    performance.mark('fx:shown');
  }

  /** Return the state of this URL as the server has it now; null when there is none. */
  async #fetch() {
    try {
      const response = await fetch(location.pathname + location.search, {
        headers: { 'x-fx-navigation': '1', accept: 'application/json' },
        cache: 'reload',
      });
      const type = response.headers.get('content-type') ?? '';
      const body = /json/.test(type) ? await response.json() : {};
      if (response.status >= 500) {
        this.#overlay.answered(body, response);
        return null;
      }
      if (body.page?.module) return body;
      location.reload();
    } catch (error) {
      console.warn('fx dev: the new data could not be loaded.', error);
    }
    return null;
  }

  #shownModules() {
    const page = this.#runtime.screen.view?.state.page;
    if (page === undefined) return [];
    return [page.module, ...page.layouts.map(({ module }) => module)];
  }
}
