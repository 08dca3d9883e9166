/**
 * The router of a page that nobody has left yet. The code of navigations (`visits/`) is loaded when
 * one is likely, and does what this was asked for.
 */

import { keyOf, pageUrl } from './urls.js';

/** @typedef {import('./visits/visits.js').Visits} Visits */

/**
 * @typedef {object} Status
 * @property {'idle' | 'loading'} state
 * @property {string | null} to path and query that are loading
 */

/** Nothing is loading. @type {Status} */
export const IDLE = Object.freeze({ state: 'idle', to: null });

/** Has the methods of the router. Where its code cannot be loaded, browsers load documents. */
export class LazyRouter {
  #load;
  #stage;
  #base;
  /** @type {Visits | null} */
  #visits = null;
  /** @type {Promise<Visits> | null} */
  #loading = null;
  #status = IDLE;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {URL} what is on the screen, until the code is there */
  shown;

  /**
   * @param {object} options
   * @param {() => Promise<Visits>} options.load
   * @param {Pick<import('./visits/router.js').Stage, 'url' | 'leave' | 'reload'> & { stay(): void }} options.stage
   *   `stay` says that the browser has moved within the shown page
   * @param {string} options.base
   */
  constructor({ load, stage, base }) {
    this.#load = load;
    this.#stage = stage;
    this.#base = base;
    this.shown = stage.url();
  }

  /** What is loading. The same object until it changes. */
  snapshot = () => this.#visits?.router.snapshot() ?? this.#status;

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

  /** Payloads, of which none are kept before their code is there. */
  payloads = {
    /** @param {Parameters<Visits['payloads']['take']>} request */
    take: async (...request) => (await this.ready()).payloads.take(...request),
    /** @param {URL} [url] */
    invalidate: (url) => this.#visits?.payloads.invalidate(url),
    /** @param {string} tag */
    invalidateTag: (tag) => this.#visits?.payloads.invalidateTag(tag),
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
   * @param {string} href
   * @param {Parameters<Visits['router']['navigate']>[1]} [options]
   */
  async navigate(href, options = {}) {
    const here = this.#stage.url();
    const url = this.resolve(href);
    const isPlace = url !== null && url.hash !== '' && keyOf(url) === keyOf(here);
    const { replace = false, scroll = true, fresh = false } = options;
    const leave = () => {
      this.#stage.leave(url ?? new URL(href, here), replace);
      if (isPlace && fresh) this.#stage.reload(); // the browser has only moved to the place
    };
    if (url === null || (isPlace && !replace && scroll && !fresh && this.#isQuiet())) {
      leave();
      return;
    }
    if (this.#visits === null && keyOf(url) !== keyOf(here)) {
      this.#say({ state: 'loading', to: keyOf(url) });
    }
    await this.#ask((router) => router.navigate(href, options), leave);
  }

  async pop() {
    if (this.#isQuiet() && this.#stay()) return;
    await this.#ask(
      (router) => router.pop(),
      () => void (this.#stay() || this.#stage.reload()),
    );
  }

  /** Whether there is no code yet, and no navigation that a move within the page would end. */
  #isQuiet() {
    return this.#visits === null && this.#status === IDLE;
  }

  /** Stay on the shown page if the browser has not left it. It needs no code, and keeps its state. */
  #stay() {
    const url = this.#stage.url();
    if (keyOf(url) !== keyOf(this.shown)) return false;
    this.shown = url;
    this.#stage.stay();
    return true;
  }

  /** @param {Parameters<Visits['router']['refresh']>[0]} [options] */
  async refresh(options) {
    await this.#ask(
      (router) => router.refresh(options),
      () => this.#stage.reload(),
    );
  }

  /** @param {string} href */
  async prefetch(href) {
    await this.#ask(
      (router) => router.prefetch(href),
      () => {},
    );
  }

  forgetPrefetched() {
    this.#visits?.router.forgetPrefetched();
  }

  /**
   * Load the code of navigations. Tries again after a failure.
   *
   * @returns {Promise<Visits>}
   */
  async ready() {
    if (this.#visits !== null) return this.#visits;
    this.#loading ??= this.#load();
    try {
      const visits = await this.#loading;
      if (this.#visits === null) visits.router.subscribe(() => this.#tell());
      this.#visits = visits;
      return visits;
    } catch (error) {
      this.#loading = null;
      throw error;
    }
  }

  /**
   * @param {(router: Visits['router']) => Promise<void>} use
   * @param {() => void} instead called when there is no code
   */
  async #ask(use, instead) {
    if (this.#visits !== null) return use(this.#visits.router);
    let visits;
    try {
      visits = await this.ready();
    } catch (error) {
      console.error(error);
      this.#say(IDLE);
      instead();
      return undefined;
    }
    const done = use(visits.router);
    this.#tell();
    return done;
  }

  /** @param {Status} status */
  #say(status) {
    this.#status = status;
    this.#tell();
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }
}
