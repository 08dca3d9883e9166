/** The last requests of a page, and where their time went while somebody looks at them. */

import { loadTimings } from './waterfall.js';

/** Requests that are remembered: the last ones (count). */
const MOST = 20;

export class PageRequests {
  /** @type {string[]} ids, the newest last */
  #ids = [];
  #url;
  #changed;

  /** @type {import('./waterfall.js').Timing[] | null} the newest first; null while nobody looks */
  timings = null;

  /**
   * @param {() => string} url of the timings of the last requests; "" without one
   * @param {() => void} changed called when there are other timings
   */
  constructor(url, changed) {
    this.#url = url;
    this.#changed = changed;
  }

  /**
   * The page has made a request.
   *
   * @param {string} id
   */
  add(id) {
    this.#ids = [...this.#ids, id].slice(-MOST);
    if (this.timings !== null) void this.open(() => this.timings !== null);
  }

  /**
   * Load the timings.
   *
   * @param {() => boolean} isWanted whether somebody looks at them still
   */
  async open(isWanted = () => true) {
    if (this.#url() === '') return;
    const latest = await loadTimings(this.#url());
    if (!isWanted()) return;
    this.timings = latest.filter(({ request }) => this.#ids.includes(request));
    this.#changed();
  }

  close() {
    this.timings = null;
  }
}
