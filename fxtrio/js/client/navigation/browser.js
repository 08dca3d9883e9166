/** The browser as the router needs it: address bar, history, scroll positions. */

import { keyOf } from './urls.js';

const POSITIONS = 'fx-scroll';
/** Entries of the history that are remembered, the oldest go first. */
const MOST_ENTRIES = 100;
const LEAVABLE = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:']);

/** One window's history. `start` begins to listen; `stop` ends it. */
export class Browser {
  #window;
  #onPop;
  /** @type {Map<string, [number, number]>} */
  #positions;
  /** The entry of the history that the address bar shows. */
  entry;
  /** What is on the screen: its entry, and path and query. @type {{ entry: string, key: string }} */
  shown;
  /** Called when the entry that is shown is left. */
  atKeeping = () => {};
  /** Called by `stop`. */
  atStop = () => {};

  /**
   * @param {Window} window
   * @param {() => void} onPop the browser has moved within its history
   */
  constructor(window, onPop) {
    this.#window = window;
    this.#onPop = onPop;
    this.#positions = readPositions(window);
    this.entry = entryOf(window.history.state);
    this.shown = { entry: this.entry, key: keyOf(this.url()) };
  }

  start() {
    const { history, location } = this.#window;
    if (this.entry === '') {
      this.entry = newEntry();
      history.replaceState({ ...history.state, fx: this.entry }, '', location.href);
    }
    this.shown = { ...this.shown, entry: this.entry };
    this.#take();
    this.#window.addEventListener('popstate', this.#popped);
    this.#window.addEventListener('pagehide', this.#leaving);
    this.#window.addEventListener('pageshow', this.#take);
  }

  stop() {
    this.#window.removeEventListener('popstate', this.#popped);
    this.#window.removeEventListener('pagehide', this.#leaving);
    this.#window.removeEventListener('pageshow', this.#take);
    this.atStop();
    this.#leaving();
  }

  /** @returns {URL} */
  url() {
    return new URL(this.#window.location.href);
  }

  /** @param {URL} url */
  push(url) {
    this.entry = newEntry();
    this.#window.history.pushState({ fx: this.entry }, '', url.href);
  }

  /** @param {URL} url */
  replace(url) {
    const { history } = this.#window;
    history.replaceState({ ...history.state, fx: this.entry }, '', url.href);
  }

  /**
   * @param {URL} url
   * @param {boolean} [replace] the entry of the history
   * @throws {TypeError} for a URL that is no place, such as `javascript:`
   */
  leave(url, replace) {
    if (!LEAVABLE.has(url.protocol)) throw new TypeError(`navigate: ${url.href} is not a page.`);
    this.#window.location[replace ? 'replace' : 'assign'](url.href);
  }

  reload() {
    this.#window.location.reload();
  }

  /** Remember where the page is scrolled to, and what was typed into its fields. */
  keepScroll() {
    const { scrollX, scrollY } = this.#window;
    keep(this.#positions, this.entry, [scrollX, scrollY]);
    this.atKeeping();
  }

  /** Where the page of this entry was scrolled to. */
  position() {
    return this.#positions.get(this.entry);
  }

  /** Show an entry of the page on the screen. The browser itself has scrolled to a new one. */
  stay() {
    this.shown = { ...this.shown, entry: this.entry };
    const [left, top] = this.position() ?? [];
    if (top !== undefined) this.#window.scrollTo({ left, top, behavior: 'instant' });
  }

  #popped = () => {
    this.keepScroll();
    const { history, location } = this.#window;
    this.entry = entryOf(history.state);
    if (this.entry === '') {
      // An entry that the browser made, for a hash that was typed or a plain link.
      this.entry = newEntry();
      history.replaceState({ ...history.state, fx: this.entry }, '', location.href);
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

/** @param {unknown} state of a history entry */
function entryOf(state) {
  const entry = /** @type {any} */ (state)?.fx;
  return typeof entry === 'string' ? entry : '';
}

/**
 * Put a value into a map as its youngest; the oldest of too many goes.
 *
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} key
 * @param {Value} value
 */
export function keep(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_ENTRIES) map.delete(/** @type {string} */ (map.keys().next().value));
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
