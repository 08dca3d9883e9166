/** The data of other pages that components ask for: one request for each URL, however many ask. */

import { translated } from '../view/messages.js';
import { lost, stopValues } from '../view/promises.js';
import { errorOf } from '../view/tree.js';
import { keyOf } from './urls.js';

/** @typedef {import('../types.js').State} State */
/** @typedef {import('../types.js').PageError} PageError */

/**
 * What is known of a page's data. The same object until it changes.
 *
 * @typedef {{ data: any, error: PageError | null, pending: boolean }} Loaded
 */

/** Nothing is asked for. @type {Loaded} */
export const NO_PAGE = Object.freeze({ data: null, error: null, pending: false });

/** Nothing has come yet. @type {Loaded} */
export const WAITING = Object.freeze({ data: null, error: null, pending: true });

/** All of an app. */
export class Loads {
  /** @type {Map<string, Load>} */
  #entries = new Map();
  #payloads;

  /** @param {Pick<import('./visits/payloads.js').Payloads, 'take'>} payloads */
  constructor(payloads) {
    this.#payloads = payloads;
  }

  /**
   * Return the data of a page. It is asked for while somebody listens.
   *
   * @param {URL} url
   * @returns {Load}
   */
  of(url) {
    const key = keyOf(url);
    const entry = this.#entries.get(key) ?? new Load(url, this.#payloads, this.#entries);
    this.#entries.set(key, entry);
    return entry;
  }

  /**
   * Load those anew for which `isMeant` returns true. Resolves when all have come.
   *
   * @param {(url: URL, state: State | null) => boolean} [isMeant]
   */
  async refresh(isMeant = () => true) {
    const meant = [...this.#entries.values()].filter(({ url, state }) => isMeant(url, state));
    await Promise.all(meant.map((one) => one.refresh()));
  }
}

/** The data of one page. */
class Load {
  #payloads;
  #entries;
  #snapshot = WAITING;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {AbortController | null} of the request under way */
  #current = null;
  /** What has come last. @type {State | null} */
  state = null;

  /**
   * @param {URL} url
   * @param {Pick<import('./visits/payloads.js').Payloads, 'take'>} payloads
   * @param {Map<string, Load>} entries has those that somebody listens to
   */
  constructor(url, payloads, entries) {
    this.url = url;
    this.#payloads = payloads;
    this.#entries = entries;
  }

  snapshot = () => this.#snapshot;

  /**
   * Call `listener` when the snapshot changes. The end of the last one aborts the request.
   *
   * @param {() => void} listener
   * @returns {() => void} ends it
   */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    this.#entries.set(keyOf(this.url), this);
    if (this.#current === null && this.state === null) void this.#load(false);
    return () => {
      this.#listeners.delete(listener);
      queueMicrotask(() => this.#end()); // React may subscribe again at once
    };
  };

  /** Ask the server again. Resolves when its answer, or a later one, is there. */
  async refresh() {
    if (this.#listeners.size > 0) await this.#load(true);
  }

  #end() {
    if (this.#listeners.size > 0) return;
    if (this.#entries.get(keyOf(this.url)) === this) this.#entries.delete(keyOf(this.url));
    this.#current?.abort();
    this.#current = null;
    if (this.state !== null) stopValues(this.state);
    this.state = null;
    this.#snapshot = WAITING;
  }

  /** @param {boolean} fresh */
  async #load(fresh) {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    if (!this.#snapshot.pending) this.#say({ ...this.#snapshot, pending: true });
    const { state, ...loaded } = await this.#request({ signal: controller.signal, fresh });
    if (controller.signal.aborted) {
      stopValues(state);
      return;
    }
    const before = this.state;
    this.#current = null;
    this.state = state ?? null;
    this.#say({ ...loaded, pending: false });
    if (before !== null) stopValues(before, state);
  }

  /**
   * @param {{ signal: AbortSignal, fresh: boolean }} options
   * @returns {Promise<{ data: any, error: PageError | null, state?: State }>}
   */
  async #request(options) {
    let visit;
    try {
      visit = await this.#payloads.take(this.url, options);
    } catch {
      return failure(lost());
    }
    if (visit.kind === 'redirect') return failure(redirectTo(visit.url));
    if (visit.kind === 'document') return failure(noPayload());
    const { state } = visit;
    return state.ok ? { data: state.props.data, error: null, state } : failure(errorOf(state));
  }

  /** @param {Loaded} snapshot */
  #say(snapshot) {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}

/** @param {PageError} error */
function failure(error) {
  return { data: null, error };
}

/**
 * @param {string} url
 * @returns {PageError}
 */
function redirectTo(url) {
  const message = translated(`The page redirects to ${url}.`);
  return { message, statusCode: 303, type: 'Redirect', data: { url }, requestId: '' };
}

/** @returns {PageError} */
function noPayload() {
  const message = translated('The response is not a page of this build. Reload the page.');
  return { message, statusCode: 404, type: 'NoPage', data: {}, requestId: '' };
}
