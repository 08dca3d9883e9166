/**
 * Navigation: which URL is asked for, what its payload leads to, and what is left of it when
 * a newer navigation begins. Touches no document: what it needs of the browser is a `Stage`.
 */

import { namesOf, withNewer } from './partial-state.js';
import { stopValues } from '../../view/promises.js';
import { keyOf, pageUrl, withBase } from '../urls.js';
import { IDLE } from '../lazy-router.js';

/** @typedef {import('../../types.js').State} State */
/** @typedef {import('../../types.js').View} View */
/** @typedef {import('../../types.js').Visit} Visit */
/** @typedef {import('../../types.js').PageInfo} PageInfo */
/** @typedef {import('../lazy-router.js').Status} Status */

/** Redirects that are followed in a row. */
const MOST_REDIRECTS = 10;

/**
 * How the browser should look after a navigation.
 *
 * @typedef {object} Arrival
 * @property {URL} url
 * @property {'top' | 'restore' | 'keep'} scroll `top` includes the element that the hash names
 * @property {boolean} moved whether the path is another one
 */

/**
 * What a router needs of the browser.
 *
 * @typedef {object} Stage
 * @property {() => URL} url what the address bar shows
 * @property {() => void} keepScroll remember the position of the entry that is left
 * @property {(url: URL) => void} push
 * @property {(url: URL) => void} replace
 * @property {(url: URL, replace?: boolean) => void} leave load a document
 * @property {() => void} reload load the document of the shown URL
 * @property {(page: PageInfo) => Promise<import('../../types.js').Parts>} load the code of a page
 * @property {(page: PageInfo) => void} preload begin to load it
 * @property {(view: View, held: () => void) => Promise<void>} show resolves when it is on the
 *   screen; `held` is called when a transition of the page holds it back until its end
 * @property {(arrival: Arrival) => void} arrive
 * @property {() => State} state what is shown
 * @property {() => Promise<void>} refreshBeside
 *   loads the data of other pages anew that components show
 */

/**
 * @typedef {object} How
 * @property {(url: URL) => void} record writes the history
 * @property {boolean} replace whether a document takes the place of the entry, too
 * @property {'top' | 'restore' | 'keep'} scroll
 * @property {boolean} [fresh]
 * @property {readonly string[]} [only] names of the values that are loaded
 */

export class Router {
  #stage;
  #payloads;
  #base;
  /** @type {URL} what is on the screen */
  #shown;
  /** @type {AbortController | null} of the navigation under way */
  #current = null;
  #status = IDLE;
  /** What the navigation under way loads of the data; null for all. @type {readonly string[] | null} */
  #names = null;
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /**
   * @param {object} options
   * @param {Stage} options.stage
   * @param {import('./payloads.js').Payloads} options.payloads
   * @param {string} options.base
   * @param {URL} [options.shown] what is on the screen, if the address bar shows another page by now
   */
  constructor({ stage, payloads, base, shown = stage.url() }) {
    this.#stage = stage;
    this.#payloads = payloads;
    this.#base = base;
    this.#shown = shown;
  }

  /** What is loading. The same object until it changes. */
  snapshot = () => this.#status;

  /**
   * Call `listener` when the status changes.
   *
   * @param {() => void} listener
   * @returns {() => void} ends it
   */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Return the URL of a page of the app; null for one that the router does not show.
   *
   * @param {string} href
   * @returns {URL | null}
   */
  resolve(href) {
    return pageUrl(href, this.#stage.url(), this.#base);
  }

  /**
   * Go to a page. Resolves when it is shown, or when something newer has taken its place.
   *
   * @param {string} href
   * @param {{ replace?: boolean, scroll?: boolean, fresh?: boolean }} [options] `fresh` asks the
   *   server, whatever is kept
   */
  async navigate(href, { replace = false, scroll = true, fresh = false } = {}) {
    const url = this.resolve(href);
    if (url === null) {
      this.#stage.leave(new URL(href, this.#stage.url()), replace);
      return;
    }
    const here = this.#stage.url();
    const again = url.href === here.href;
    if (url.hash !== '' && keyOf(url) === keyOf(here) && !fresh) {
      this.#cancel();
      this.#record(url, replace || again);
      this.#stage.arrive({ url, scroll: scroll ? 'top' : 'keep', moved: false });
      return;
    }
    await this.#go(url, {
      record: (to) => this.#record(to, replace || again),
      replace: replace || again,
      scroll: scroll ? 'top' : 'keep',
      fresh,
    });
  }

  /** Show the URL that the browser has moved to within its history. */
  async pop() {
    const url = this.#stage.url();
    if (keyOf(url) === keyOf(this.#shown)) {
      this.#cancel();
      this.#shown = url;
      this.#stage.arrive({ url, scroll: 'restore', moved: false });
      return;
    }
    await this.#go(url, {
      record: (to) => {
        if (to.href !== url.href) this.#stage.replace(to);
      },
      replace: true,
      scroll: 'restore',
    });
  }

  /**
   * Run the loaders of the shown page again; not while another page is on its way.
   *
   * @param {{ only?: readonly string[] }} [options] keys of the data; a refresh that is under way,
   *   and ends with this one, adds its own
   */
  async refresh({ only } = {}) {
    const url = this.#shown;
    const { to } = this.#status;
    if (to !== null && to !== keyOf(url)) return;
    const before = to === null ? [] : this.#names;
    const names = only &&
      before && [...new Set([...before, ...namesOf(this.#stage.state(), only)])];
    const page = this.#go(url, {
      record: (to) => {
        if (to.href !== url.href) this.#stage.replace(to);
      },
      replace: true,
      scroll: 'keep',
      fresh: true,
      only: names ?? undefined,
    });
    await Promise.all([page, only === undefined ? this.#stage.refreshBeside() : null]);
  }

  /**
   * Load a page's data and code for the navigation that may follow.
   *
   * @param {string} href
   */
  async prefetch(href) {
    let url = this.resolve(href);
    for (let hop = 0; url !== null && hop < MOST_REDIRECTS; hop += 1) {
      if (keyOf(url) === keyOf(this.#shown)) return;
      const visit = await this.#payloads.prefetch(url);
      if (visit?.kind === 'view') this.#stage.preload(visit.state.page);
      if (visit?.kind !== 'redirect') return;
      url = this.resolve(visit.url);
    }
  }

  /** Forget what was prefetched: an action may have changed it. */
  forgetPrefetched() {
    this.#payloads.forgetPrefetched();
  }

  /**
   * Go to a page. Resolves when it is shown, or shall be at the end of a transition of the page.
   *
   * @param {URL} target
   * @param {How} how
   * @returns {Promise<void>}
   */
  #go(target, how) {
    return new Promise((resolve, reject) => {
      this.#visit(target, how, resolve).then(resolve, reject);
    });
  }

  /**
   * @param {URL} target
   * @param {How} how
   * @param {() => void} held
   */
  async #visit(target, { record, replace, scroll, fresh = false, only }, held) {
    const current = this.#begin(target);
    this.#names = only ?? null;
    const { signal } = current;
    try {
      const visit = await this.#follow(target, { signal, replace, fresh, only });
      if (signal.aborted || visit === null) return;
      const parts = await this.#stage.load(visit.state.page);
      if (signal.aborted) return;
      const moved = visit.url.pathname !== this.#shown.pathname;
      record(visit.url);
      this.#shown = visit.url;
      await this.#stage.show({ state: visit.state, parts }, held);
      if (signal.aborted) return;
      this.#stage.arrive({ url: visit.url, scroll, moved });
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      this.#leave(target, replace); // the browser says best what is wrong, or gets it right
    } finally {
      this.#end(current);
    }
  }

  /**
   * Ask for a page and for what it redirects to.
   *
   * @param {URL} target
   * @param {{ signal: AbortSignal, replace: boolean, fresh: boolean, only?: readonly string[] }} options
   * @returns {Promise<{ state: State, url: URL } | null>} null when the
   *   browser leaves for a document
   */
  async #follow(target, options) {
    let url = target;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
      const visit = await this.#payloads.take(url, options);
      if (options.signal.aborted) return null;
      if (visit.kind === 'document') {
        this.#leave(url, options.replace);
        return null;
      }
      const to = new URL(
        visit.kind === 'redirect' ? withBase(visit.url, this.#base) : visit.url,
        url,
      );
      if (to.hash === '') to.hash = url.hash;
      if (visit.kind === 'view') {
        const { only } = options;
        const merged = only && withNewer(this.#stage.state(), visit.state, only);
        if (merged !== null) return { state: merged ?? visit.state, url: to };
        stopValues(visit.state);
        options = { ...options, only: undefined };
        continue;
      }
      options = { ...options, only: undefined };
      const next = this.resolve(to.href);
      if (next === null) {
        this.#stage.leave(to, options.replace);
        return null;
      }
      url = next;
    }
    throw new Error(`${target.pathname}: redirects more than ${MOST_REDIRECTS} times.`);
  }

  /**
   * @param {URL} url
   * @param {boolean} replace
   */
  #leave(url, replace) {
    if (url.href === this.#stage.url().href) this.#stage.reload();
    else this.#stage.leave(url, replace);
  }

  /**
   * @param {URL} url
   * @param {boolean} replace
   */
  #record(url, replace) {
    this.#stage.keepScroll();
    if (replace) this.#stage.replace(url);
    else this.#stage.push(url);
    this.#shown = url;
  }

  /** @param {URL} url */
  #begin(url) {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    this.#say({ state: 'loading', to: keyOf(url) });
    return controller;
  }

  /** @param {AbortController} controller */
  #end(controller) {
    if (this.#current !== controller) return;
    this.#current = null;
    this.#say(IDLE);
  }

  #cancel() {
    this.#current?.abort();
    this.#current = null;
    if (this.#status !== IDLE) this.#say(IDLE);
  }

  /** @param {Status} status */
  #say(status) {
    this.#status = status;
    for (const listener of this.#listeners) listener();
  }
}
