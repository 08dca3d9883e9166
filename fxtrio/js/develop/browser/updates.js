/** What has changed since the page was shown, gathered, and shown in one step. */

import { flushSync } from 'react-dom';

import { invalidate } from '../../client/navigation/invalidate.js';
import { isInLines, readLines } from '../../client/navigation/visits/payload-lines.js';
import { PAYLOAD } from '../../client/navigation/visits/payload.js';
import { bindPromises } from '../../client/view/promises.js';
import { latest } from './latest.js';

/** Longest wait for the module of a page whose loader has changed too (ms). */
const TOGETHER_MS = 10_000;

/** How long data that was loaded ahead waits for the change that it belongs to (ms). */
const AHEAD_MS = 1000;

/** @typedef {import('../../client/runtime.js').Runtime} Runtime */
/** @typedef {import('../../client/types.js').State} State */
/** @typedef {import('../../client/types.js').View} View */

/**
 * What the server has for a page.
 *
 * @typedef {object} Answer
 * @property {number} number the higher, the later it was asked for
 * @property {string} url path and query of the page
 * @property {State | null} state null when there is none
 */

export class Updates {
  #runtime;
  #overlay;
  #refresh;
  /** @type {Promise<Answer> | null} new data that nobody waits for yet */
  #data = null;
  /**
   * Data of a change yet to be heard of, and whether it is shown before.
   *
   * @type {{ at: number, data: Promise<Answer>, atOnce: boolean } | null}
   */
  #ahead = null;
  /** How often data was asked for. */
  #asked = 0;
  /** Which answer is on the screen, or a later one. */
  #shown = 0;
  /** Whether the page is to be shown once more as it is. */
  #isAgain = false;
  /** How many changes are about to be shown. */
  #applying = 0;
  /** @type {View | null} what was last shown from here */
  #own = null;
  /** @type {object[]} new modules */
  #modules = [];
  /** @type {Set<string>} modules that will come */
  #expected = new Set();
  /** @type {number | undefined} */
  #timer;
  /** @type {Set<string> | null} modules that have changed while a page was on its way */
  #later = null;
  /** Whether something new could not be shown: the next change may have put that right. */
  #isFailed = false;

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
    const { screen, router } = runtime;
    const { committed } = screen;
    screen.committed = (view, number) => {
      committed.call(screen, view, number);
      this.#arrived();
    };
    router.subscribe(() => this.#arrived());
  }

  /** Whether another page may be shown next, which was asked for before the last change. */
  get #isOnItsWay() {
    const { screen, router } = this.#runtime;
    return screen.view === null || router.snapshot().state !== 'idle';
  }

  /** A page may have arrived: show it as it is now, if something has changed on its way. */
  #arrived() {
    if (this.#isOnItsWay) return;
    if (this.#hasOldParts) this.again();
    const sources = this.#later;
    this.#later = null;
    if (sources !== null) this.addData({ sources: [...sources], expected: [] });
  }

  /** Whether modules of the view have been updated since it was put together. */
  get #hasOldParts() {
    const { view } = this.#runtime.screen;
    if (view === null) return false;
    const { page, layouts, loading } = view.parts;
    const isOld = (/** @type {{ module: string } | undefined} */ of, /** @type {unknown} */ part) =>
      of !== undefined && latest.has(of.module) && latest.get(of.module) !== part;
    const { state } = view;
    return (
      isOld(state.page, page) ||
      isOld(state.page.loading, loading) ||
      state.page.layouts.some((layout, index) => isOld(layout, layouts[index]))
    );
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
   * New code is in use: load the data of this page, if it is of that, and the modules that it
   * names. It is shown when `addData` tells of the change, or at once where that will have nothing
   * else to show.
   *
   * @param {string[]} sources URLs of modules
   * @param {{ atOnce: boolean }} options
   */
  loadAhead(sources, { atOnce }) {
    if (!this.#isWrong && !this.#modulesOnScreen().some((url) => sources.includes(url))) return;
    this.#overlay.clear();
    const data = this.#fetch();
    this.#ahead = { at: performance.now(), data, atOnce };
    if (atOnce) {
      this.#data = data;
      this.#schedule();
    }
    const load = async () => {
      const { state } = await data;
      if (state !== null) await this.#runtime.modules.load(state.page);
    };
    load().catch(() => {}); // whoever shows it is told
  }

  /** Return what was loaded ahead for this change, or load it now. */
  #newest() {
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead !== null && performance.now() - ahead.at < AHEAD_MS) return ahead;
    this.#overlay.clear();
    return { data: this.#fetch(), atOnce: false };
  }

  /**
   * Loaders have changed: fetch the data of this page anew, if they are its own.
   *
   * @param {{ sources: string[] | null, expected: string[] }} change URLs of modules; those of
   *   `expected` follow as modules. `sources` null stands for all pages.
   */
  addData({ sources, expected }) {
    const onScreen = this.#modulesOnScreen();
    const others = sources !== null && !onScreen.some((url) => sources.includes(url));
    invalidate(this.#runtime); // what is kept for the next pages is of the code before
    // What has gone wrong may have done so in any file.
    if (others && !this.#isWrong && !this.#overlay.isPassing) {
      if (this.#isOnItsWay) this.#later = new Set([...(this.#later ?? []), ...sources]);
      return;
    }
    const { data, atOnce } = this.#newest();
    const awaited = expected.filter((url) => onScreen.includes(url));
    // It is on the screen, or about to be, unless that has failed.
    if (atOnce && sources !== null && awaited.length === 0 && !this.#isFailed) return;
    this.#data = data;
    for (const url of awaited) this.#expected.add(url);
    this.#schedule();
  }

  /** Modules of components have been updated; those of pages say so themselves. */
  addComponents() {
    const isQuiet = this.#data === null && this.#modules.length === 0 && this.#applying === 0;
    if (isQuiet) flushSync(this.#refresh); // else they are shown with what is on its way
  }

  /** A module cannot be loaded: nothing waits for it any more. */
  addFailure() {
    if (this.#expected.size === 0) return;
    this.#expected.clear();
    this.#schedule();
  }

  /** What was thrown may be right now: show the page once more, and learn of it. */
  again() {
    this.#isAgain = true;
    this.#schedule();
  }

  /** All of a change has been told, and its modules are there, or cannot be loaded. */
  settle() {
    if (this.#isFailed) this.addData({ sources: null, expected: [] });
    else this.#retry();
    if (this.#overlay.takeUnsure()) this.again();
    this.addFailure();
  }

  /** Something has changed: an error view asks whether its page can be shown now. */
  #retry() {
    if (this.#runtime.screen.view === null) this.#later ??= new Set();
    if (!this.#isWrong || this.#data !== null || this.#applying > 0) return;
    this.addData({ sources: null, expected: [] });
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
    if (modules.length > 0) this.#overlay.clearThrown(); // what the code before them has thrown
    const isAgain = this.#isAgain;
    this.#isAgain = false;
    this.#data = null;
    this.#modules = [];
    this.#expected.clear();
    this.#applying += 1;
    try {
      const answer = data === null ? null : await data;
      // What was asked for later may have come earlier.
      if (answer !== null) this.#shown = Math.max(this.#shown, answer.number);
      await this.#show(answer, { isNew: modules.length > 0 || isAgain });
      this.#isFailed = false;
    } catch (error) {
      this.#isFailed = true;
      this.#overlay.thrown(error);
    } finally {
      this.#applying -= 1;
    }
  }

  /**
   * @param {Answer | null} answer
   * @param {{ isNew: boolean }} options `isNew`: whether there is more to show than new data
   */
  async #show(answer, { isNew }) {
    const { screen, modules } = this.#runtime;
    for (;;) {
      const before = screen.view;
      const isMeant = answer !== null && answer.number === this.#shown && answer.url === here();
      const state = (isMeant && answer.state) || (isNew && before ? { ...before.state } : null);
      if (!state) {
        if (isNew) flushSync(this.#refresh);
        return;
      }
      const parts = await modules.load(state.page);
      if (screen.view !== before) continue; // another page or other data is shown meanwhile
      const view = { state, parts };
      this.#own = view;
      flushSync(() => {
        // Of new modules everything is taken: slots, MEMO, and components without a name.
        screen.replace(view);
        this.#refresh(); // components elsewhere may be new, too
      });
      performance.mark('fx:shown');
      return;
    }
  }

  /**
   * Return what the server has for this URL now.
   *
   * @returns {Promise<Answer>}
   */
  async #fetch() {
    this.#asked += 1;
    const number = this.#asked;
    await idle(this.#runtime.router); // a page that is on its way may be of the code before
    const { screen } = this.#runtime;
    const [url, view] = [here(), screen.view];
    const state = await this.#request(url, number);
    // What somebody else has shown meanwhile was asked for later.
    const isNewest = screen.view === view || screen.view === this.#own;
    return { number, url, state: isNewest ? state : null };
  }

  /**
   * @param {string} url
   * @param {number} number of the request: what an earlier one fails with is of the code before
   * @returns {Promise<State | null>}
   */
  async #request(url, number) {
    try {
      const response = await fetch(url, {
        headers: { 'x-fx-navigation': '1', accept: 'application/json' },
        cache: 'reload',
      });
      const type = response.headers.get('content-type') ?? '';
      const inLines = isInLines(response);
      const whole = !inLines && /json/.test(type);
      const body = inLines ? await readLines(response) : whole ? await response.json() : {};
      if (response.status >= 500) {
        if (number === this.#asked) this.#overlay.answered(body, response, { isOfData: true });
        return null;
      }
      if ((type === PAYLOAD || inLines) && body.page?.module) {
        bindPromises(body);
        return body;
      }
      location.reload();
    } catch (error) {
      console.warn('fx dev: the new data could not be loaded.', error);
    }
    return null;
  }

  #modulesOnScreen() {
    const page = this.#runtime.screen.view?.state.page;
    if (page === undefined) return [];
    return [page.module, ...page.layouts.map(({ module }) => module)];
  }
}

function here() {
  return location.pathname + location.search;
}

/**
 * Wait until no page is on its way.
 *
 * @param {import('../../client/navigation/lazy-router.js').LazyRouter} router
 */
async function idle(router) {
  if (router.snapshot().state === 'idle') return;
  await new Promise((resolve) => {
    const end = router.subscribe(() => {
      if (router.snapshot().state !== 'idle') return;
      end();
      resolve(undefined);
    });
  });
}
