/** The browser as the router needs it: address bar, history, scroll position, focus. */

import { announce, focusOn } from './focus.js';

/** @typedef {import('./router.js').Arrival} Arrival */

const POSITIONS = 'fx-scroll';
/** Positions kept in the session, the oldest go first. */
const MOST_POSITIONS = 100;
const LEAVABLE = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:']);

/** One window's history. `start` begins to listen; `stop` ends it. */
export class Browser {
  #window;
  #onPop;
  /** @type {Map<string, [number, number]>} */
  #positions;
  #entry;

  /**
   * @param {Window} window
   * @param {() => void} onPop the browser has moved within its history
   */
  constructor(window, onPop) {
    this.#window = window;
    this.#onPop = onPop;
    this.#positions = readPositions(window);
    this.#entry = entryOf(window.history.state);
  }

  start() {
    const { history, location } = this.#window;
    if (this.#entry === '') {
      this.#entry = newEntry();
      history.replaceState({ ...history.state, fx: this.#entry }, '', location.href);
    }
    this.#take();
    this.#window.addEventListener('popstate', this.#popped);
    this.#window.addEventListener('pagehide', this.#leaving);
    this.#window.addEventListener('pageshow', this.#take);
  }

  stop() {
    this.#window.removeEventListener('popstate', this.#popped);
    this.#window.removeEventListener('pagehide', this.#leaving);
    this.#window.removeEventListener('pageshow', this.#take);
    this.#leaving();
  }

  /** @returns {URL} */
  url() {
    return new URL(this.#window.location.href);
  }

  /** @param {URL} url */
  push(url) {
    this.#entry = newEntry();
    this.#window.history.pushState({ fx: this.#entry }, '', url.href);
  }

  /** @param {URL} url */
  replace(url) {
    const { history } = this.#window;
    history.replaceState({ ...history.state, fx: this.#entry }, '', url.href);
  }

  /**
   * @param {URL} url
   * @throws {TypeError} for a URL that is no place, such as `javascript:`
   */
  leave(url) {
    if (!LEAVABLE.has(url.protocol)) throw new TypeError(`navigate: ${url.href} is no page.`);
    this.#window.location.assign(url.href);
  }

  reload() {
    this.#window.location.reload();
  }

  keepScroll() {
    const { scrollX, scrollY } = this.#window;
    this.#positions.delete(this.#entry);
    this.#positions.set(this.#entry, [scrollX, scrollY]);
    if (this.#positions.size > MOST_POSITIONS) {
      this.#positions.delete(/** @type {string} */ (this.#positions.keys().next().value));
    }
  }

  /** @param {Arrival} arrival */
  arrive({ url, scroll, moved }) {
    const { document } = this.#window;
    const kept = scroll === 'restore' ? this.#positions.get(this.#entry) : undefined;
    const target = scroll === 'keep' || kept ? null : targetOf(document, url.hash);
    if (target !== null) {
      target.scrollIntoView();
    } else if (scroll !== 'keep') {
      const [left, top] = kept ?? [0, 0];
      this.#window.scrollTo({ left, top, behavior: 'instant' });
    }
    if (target !== null) focusOn(target);
    else if (moved) focusOn(document.querySelector('#fx-root [autofocus]') ?? document.body);
    if (moved) announce(document);
  }

  #popped = () => {
    this.keepScroll();
    const { history, location } = this.#window;
    this.#entry = entryOf(history.state);
    if (this.#entry === '') {
      // An entry that the browser made, for a hash that was typed or a plain link.
      this.#entry = newEntry();
      history.replaceState({ ...history.state, fx: this.#entry }, '', location.href);
    }
    this.#onPop();
  };

  /** While this app runs, it restores positions by itself, after the page is there. */
  #take = () => {
    this.#window.history.scrollRestoration = 'manual';
  };

  #leaving = () => {
    this.keepScroll();
    writePositions(this.#window, this.#positions);
    this.#window.history.scrollRestoration = 'auto';
  };
}

/**
 * @param {Document} document
 * @param {string} hash
 * @returns {Element | null}
 */
function targetOf(document, hash) {
  const name = hash.slice(1);
  if (name === '') return null;
  let decoded = name;
  try {
    decoded = decodeURIComponent(name);
  } catch {
    // A stray per cent sign: the name stands for itself.
  }
  return (
    document.getElementById(name) ??
    document.getElementById(decoded) ??
    document.getElementsByName(decoded)[0] ??
    null
  );
}

/** @param {unknown} state of a history entry */
function entryOf(state) {
  const entry = /** @type {any} */ (state)?.fx;
  return typeof entry === 'string' ? entry : '';
}

function newEntry() {
  return Math.random().toString(36).slice(2, 12);
}

/**
 * @param {Window} window
 * @returns {Map<string, [number, number]>}
 */
function readPositions(window) {
  try {
    return new Map(JSON.parse(window.sessionStorage.getItem(POSITIONS) ?? '[]'));
  } catch {
    return new Map(); // storage is switched off, or holds something else
  }
}

/**
 * @param {Window} window
 * @param {Map<string, [number, number]>} positions
 */
function writePositions(window, positions) {
  try {
    window.sessionStorage.setItem(POSITIONS, JSON.stringify([...positions]));
  } catch {
    // Storage is full or switched off: a reload then starts at the top.
  }
}
