/** The browser as the router needs it: address bar, history, scroll position, focus. */

import { announce, focusOn, focusOnPage } from './focus.js';
import { readTyped, restoreTyped } from '../actions/typed-fields.js';
import { keyOf } from './urls.js';

/** @typedef {import('./router.js').Arrival} Arrival */

const POSITIONS = 'fx-scroll';
/** Entries of the history that are remembered, the oldest go first. */
const MOST_ENTRIES = 100;
/** By these a visitor scrolls. */
const INPUTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
const LEAVABLE = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:']);

/** One window's history. `start` begins to listen; `stop` ends it. */
export class Browser {
  #window;
  #onPop;
  /** @type {Map<string, [number, number]>} */
  #positions;
  #entry;
  /** What is on the screen: its entry, and path and query. @type {{ entry: string, key: string }} */
  #shown;
  /** Not in the session's storage: what was typed shall not outlive the document. @type {Map<string, ReadonlyMap<string, import('../actions/typed-fields.js').Typed>>} */
  #typed = new Map();

  /**
   * @param {Window} window
   * @param {() => void} onPop the browser has moved within its history
   */
  constructor(window, onPop) {
    this.#window = window;
    this.#onPop = onPop;
    this.#positions = readPositions(window);
    this.#entry = entryOf(window.history.state);
    this.#shown = { entry: this.#entry, key: keyOf(this.url()) };
  }

  /** Ends the wait for a page that is still too short for its position. */
  #endRestoring = () => {};

  start() {
    const { history, location } = this.#window;
    if (this.#entry === '') {
      this.#entry = newEntry();
      history.replaceState({ ...history.state, fx: this.#entry }, '', location.href);
    }
    this.#shown = { ...this.#shown, entry: this.#entry };
    this.#take();
    this.#window.addEventListener('popstate', this.#popped);
    this.#window.addEventListener('pagehide', this.#leaving);
    this.#window.addEventListener('pageshow', this.#take);
  }

  stop() {
    this.#window.removeEventListener('popstate', this.#popped);
    this.#window.removeEventListener('pagehide', this.#leaving);
    this.#window.removeEventListener('pageshow', this.#take);
    this.#endRestoring();
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
    if (!LEAVABLE.has(url.protocol)) throw new TypeError(`navigate: ${url.href} is not a page.`);
    this.#window.location.assign(url.href);
  }

  reload() {
    this.#window.location.reload();
  }

  /** Remember where the page is scrolled to, and what was typed into its fields. */
  keepScroll() {
    const { scrollX, scrollY, document } = this.#window;
    keep(this.#positions, this.#entry, [scrollX, scrollY]);
    // Of the entry that is shown: another one may be on its way.
    keep(this.#typed, this.#shown.entry, readTyped(document));
  }

  /** @param {Arrival} arrival */
  arrive({ url, scroll, moved }) {
    const { document } = this.#window;
    this.#endRestoring();
    const before = this.#shown;
    this.#shown = { entry: this.#entry, key: keyOf(url) };
    const typed = this.#typed.get(this.#entry);
    if (scroll === 'restore' && typed && keyOf(url) !== before.key) restoreTyped(document, typed);
    const kept = scroll === 'restore' ? this.#positions.get(this.#entry) : undefined;
    const target = scroll === 'keep' || kept ? null : targetOf(document, url.hash);
    if (target !== null) {
      target.scrollIntoView();
    } else if (scroll !== 'keep') {
      this.#scrollTo(kept ?? [0, 0]);
    }
    if (target !== null) focusOn(target);
    else if (moved) focusOnPage(document);
    if (moved) announce(document);
  }

  /**
   * Scroll to a position. A page that is too short for it gets longer when its deferred values
   * come: then again, until the visitor scrolls.
   *
   * @param {[left: number, top: number]} position
   */
  #scrollTo([left, top]) {
    const window = this.#window;
    window.scrollTo({ left, top, behavior: 'instant' });
    if (window.scrollY >= top - 1) return;
    const observer = new ResizeObserver(() => {
      window.scrollTo({ left, top, behavior: 'instant' });
      if (window.scrollY >= top - 1) this.#endRestoring();
    });
    this.#endRestoring = () => {
      observer.disconnect();
      for (const input of INPUTS) window.removeEventListener(input, this.#endRestoring, true);
      this.#endRestoring = () => {};
    };
    for (const input of INPUTS) window.addEventListener(input, this.#endRestoring, true);
    observer.observe(window.document.body);
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

/**
 * Put a value into a map as its youngest; the oldest of too many goes.
 *
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} key
 * @param {Value} value
 */
function keep(map, key, value) {
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
