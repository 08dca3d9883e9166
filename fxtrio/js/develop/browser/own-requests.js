/** The requests of this page, and what the server logs of them: for the console and the overlay. */

/** @typedef {import('./overlay.js').Overlay} Overlay */
/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

/** Requests that are remembered: those of links that are prefetched, mostly. */
const CAPACITY = 100;

/**
 * @param {Window} window
 * @returns {string | null} the id of the request that the document came with
 */
function requestOfDocument(window) {
  const [entry] = window.performance.getEntriesByType('navigation');
  const timings =
    /** @type {PerformanceNavigationTiming | undefined} */ (entry)?.serverTiming ?? [];
  return timings.find(({ name }) => name === 'fx')?.description ?? null;
}

export class OwnRequests {
  /** @type {Map<string, { url: string | null, code: number }>} pages asked for, null for others */
  #asked = new Map();
  /** Counts the changes of the server's code. */
  #code = 0;
  /** Whether the last of them has not been told as one of data yet. */
  #isSwapped = false;
  /** @type {Map<string, OverlayProblem>} what is wrong with pages that are not shown, by URL */
  #later = new Map();
  #window;
  #overlay;
  #hot;

  /**
   * @param {Window & typeof globalThis} window
   * @param {Overlay} overlay
   * @param {any} hot of the entry: the events of Vite
   */
  constructor(window, overlay, hot) {
    this.#window = window;
    this.#overlay = overlay;
    this.#hot = hot;
    this.#watchFetch();
    hot.on('fx:logged', (/** @type {any} */ record) => this.#logged(record));
    this.#navigation?.addEventListener('currententrychange', () => this.#navigated());
    const own = requestOfDocument(window);
    if (own !== null) this.#follow(own);
  }

  /** Of browsers that have it; others show at once what is wrong with a page they prefetch. */
  get #navigation() {
    return /** @type {any} */ (this.#window).navigation;
  }

  /** @param {string} request */
  #follow(request) {
    this.#overlay.requests.add(request);
    this.#hot.send('fx:own', { request });
  }

  #watchFetch() {
    const window = this.#window;
    const plain = window.fetch.bind(window);
    window.fetch = async (...request) => {
      const code = this.#code;
      const response = await plain(...request);
      const id = response.headers.get('x-request-id');
      if (id !== null && response.url.startsWith(`${window.location.origin}/`)) {
        const headers = new Headers(request[1]?.headers);
        this.#remember(id, headers.has('x-fx-navigation') ? response.url : null, code);
        this.#follow(id);
      }
      return response;
    };
  }

  /**
   * @param {string} id
   * @param {string | null} url
   * @param {number} code
   */
  #remember(id, url, code) {
    this.#asked.set(id, { url, code });
    for (const old of this.#asked.keys()) if (this.#asked.size > CAPACITY) this.#asked.delete(old);
  }

  /**
   * @param {{ request: string, level: 'error' | 'warn' | 'info' | 'debug', text: string, shown: OverlayProblem | null }} record
   */
  #logged({ request, level, text, shown }) {
    if (text !== '') this.#window.console[level](`[server] ${text}`);
    if (shown === null) return;
    const { url, code } = this.#asked.get(request) ?? { url: null, code: this.#code };
    // What is logged late is of code that may have been put right: pages are asked for again.
    if (url !== null && code < this.#code) return;
    if (url === null) this.#overlay.failed(shown);
    else if (this.#isCurrent(url) || !this.#navigation) {
      this.#overlay.failed(shown, { isOfData: true });
    } else this.#later.set(url, shown);
  }

  /** @param {string} url */
  #isCurrent(url) {
    const { origin, pathname, search } = this.#window.location;
    return url === `${origin}${pathname}${search}`;
  }

  /** Another page is shown: what is wrong with the one before does not matter any more. */
  #navigated() {
    this.#overlay.clear();
    for (const [url, shown] of this.#later) {
      if (!this.#isCurrent(url)) continue;
      this.#later.delete(url);
      this.#overlay.failed(shown, { isOfData: true });
    }
  }

  /** Code of the server has been replaced: what was asked for before is of another one. */
  replaced() {
    this.#code += 1;
    this.#isSwapped = true;
  }

  /** Code of the server has changed: pages that were asked for before may be right now. */
  forget() {
    if (!this.#isSwapped) this.#code += 1;
    this.#isSwapped = false;
    this.#later.clear();
  }
}
