/** What a browser shows of a page that was navigated to: scroll position, focus, typed text. */

import { announce, focusOn, focusOnPage } from './focus.js';
import { readTyped, restoreTyped } from './typed-fields.js';
import { keep } from '../browser.js';
import { keyOf } from '../urls.js';

/** @typedef {import('./router.js').Arrival} Arrival */

/** By these a visitor scrolls. */
const INPUTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'];

/** The pages of one window. */
export class Arrivals {
  #window;
  #browser;
  /** Not in the session's storage: what was typed shall not outlive the document. @type {Map<string, ReadonlyMap<string, import('./typed-fields.js').Typed>>} */
  #typed = new Map();

  /** Ends the wait for a page that is still too short for its position. */
  #endRestoring = () => {};

  /**
   * @param {Window & typeof globalThis} window
   * @param {import('../browser.js').Browser} browser
   */
  constructor(window, browser) {
    this.#window = window;
    this.#browser = browser;
    browser.atKeeping = this.#keepTyped;
    browser.atStop = () => this.#endRestoring();
    this.#keepTyped(); // the history may have moved already
  }

  /** Of the entry that is shown: another one may be on its way. */
  #keepTyped = () => {
    keep(this.#typed, this.#browser.shown.entry, readTyped(this.#window.document));
  };

  /** @param {Arrival} arrival */
  arrive = ({ url, scroll, moved }) => {
    const { document } = this.#window;
    const browser = this.#browser;
    this.#endRestoring();
    const before = browser.shown;
    browser.shown = { entry: browser.entry, key: keyOf(url) };
    const typed = this.#typed.get(browser.entry);
    if (scroll === 'restore' && typed && keyOf(url) !== before.key) restoreTyped(document, typed);
    const position = scroll === 'restore' ? browser.position() : undefined;
    const target = scroll === 'keep' || position ? null : targetOf(document, url.hash);
    if (target !== null) {
      target.scrollIntoView();
    } else if (scroll !== 'keep') {
      this.#scrollTo(position ?? [0, 0]);
    }
    if (target !== null) focusOn(target);
    else if (moved) focusOnPage(document);
    if (moved) announce(document);
  };

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
