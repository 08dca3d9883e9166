/** One `EventSource` for all components of a document that read the same `@stream`. */

import { pauseBefore } from './reconnect.js';
import { translated } from '../view/messages.js';

/** How long a connection that nobody uses stays: a component is often mounted again at once (ms). */
const LINGER_MS = 100;

/** Values that arrive within this time are one update (ms). */
const FRAME_MS = 16;

/** A close code that is not final, for the pause before the next attempt. */
const LOST = 1006;

const FAILED = 'The stream could not be read.';

/**
 * @typedef {object} StreamState
 * @property {any[]} values the latest ones, oldest first
 * @property {any} last null before the first
 * @property {'connecting' | 'open' | 'closed'} status
 * @property {number | null} missed how many values are lost in all; null if nobody knows
 * @property {string | null} error why the server has ended the stream
 */

/** @type {StreamState} */
export const UNREAD = Object.freeze({
  values: Object.freeze(/** @type {any} */ ([])),
  last: null,
  status: 'connecting',
  missed: 0,
  error: null,
});

/** @type {StreamState} */
export const DISABLED = Object.freeze({ ...UNREAD, status: 'closed' });

/**
 * A connection for as long as it has subscribers. The browser reconnects when it is lost, and
 * names the last id that it has. When a response is no stream, a request finds out why: after an
 * error of the client (4xx) there is no other attempt.
 */
export class StreamConnection {
  #options;
  /** @type {Map<() => void, { limit: number, onValue: (value: any) => void }>} */
  #subscribers = new Map();
  /** @type {EventSource | null} */
  #source = null;
  #lastId = '';
  #attempts = 0;
  #ended = false;
  #notified = -Infinity;
  /** @type {Partial<Record<'frame' | 'retry' | 'linger', ReturnType<typeof setTimeout>>>} */
  #timers = {};
  /** The latest values, up to twice as many as are shown: a copy for each would be quadratic. */
  #values = /** @type {any[]} */ ([]);
  #state = UNREAD;
  #shown = UNREAD;

  /**
   * @param {object} options
   * @param {string} options.url
   * @param {(url: string) => EventSource} options.open
   * @param {(url: string) => Promise<Response>} options.probe requests a URL as a stream
   * @param {(url: string) => void} options.redirect
   * @param {() => void} options.onUnused called when it is closed, since nobody uses it
   */
  constructor(options) {
    this.#options = options;
  }

  /** @returns {StreamState} the same object until the next update */
  snapshot = () => this.#shown;

  /**
   * @param {() => void} listener called after each update
   * @param {number} limit of `values`
   * @param {(value: any) => void} onValue called for each value
   * @returns {() => void}
   */
  subscribe(listener, limit, onValue) {
    clearTimeout(this.#timers.linger);
    this.#subscribers.set(listener, { limit, onValue });
    if (this.#source === null && !this.#ended && this.#timers.retry === undefined) this.#open();
    return () => {
      this.#subscribers.delete(listener);
      if (this.#subscribers.size > 0) return;
      this.#timers.linger = setTimeout(() => {
        this.#end();
        this.#options.onUnused();
      }, LINGER_MS);
    };
  }

  #open() {
    this.#timers.retry = undefined;
    const source = this.#options.open(this.#url());
    source.addEventListener('open', this.#opened);
    source.addEventListener('message', this.#received);
    source.addEventListener('missed', this.#lost);
    source.addEventListener('end', this.#finished);
    source.addEventListener('error', this.#failed);
    this.#source = source;
  }

  #release() {
    const source = this.#source;
    if (source === null) return;
    this.#source = null;
    source.removeEventListener('open', this.#opened);
    source.removeEventListener('message', this.#received);
    source.removeEventListener('missed', this.#lost);
    source.removeEventListener('end', this.#finished);
    source.removeEventListener('error', this.#failed);
    source.close();
  }

  /** The URL behind the last event: a new EventSource knows no ids. */
  #url() {
    const { url } = this.#options;
    if (this.#lastId === '') return url;
    return `${url}${url.includes('?') ? '&' : '?'}after=${encodeURIComponent(this.#lastId)}`;
  }

  #end() {
    this.#ended = true;
    this.#release();
    clearTimeout(this.#timers.retry);
    clearTimeout(this.#timers.frame);
  }

  #limit() {
    return Math.max(1, ...Array.from(this.#subscribers.values(), (one) => one.limit));
  }

  /** @param {Partial<StreamState>} change */
  #update(change) {
    this.#state = { ...this.#state, ...change };
    if (this.#timers.frame !== undefined) return;
    const wait = this.#notified + FRAME_MS - performance.now();
    if (wait <= 0) this.#notify();
    else this.#timers.frame = setTimeout(this.#notify, wait);
  }

  #notify = () => {
    clearTimeout(this.#timers.frame);
    this.#timers.frame = undefined;
    this.#notified = performance.now();
    this.#shown = { ...this.#state, values: this.#values.slice(-this.#limit()) };
    for (const listener of [...this.#subscribers.keys()]) listener();
  };

  #opened = () => {
    this.#attempts = 0;
    this.#update({ status: 'open', error: null });
  };

  #received = (/** @type {MessageEvent} */ event) => {
    this.#lastId = event.lastEventId;
    const value = JSON.parse(event.data);
    this.#values.push(value);
    if (this.#values.length > 2 * this.#limit()) this.#values = this.#values.slice(-this.#limit());
    this.#update({ last: value });
    for (const { onValue } of [...this.#subscribers.values()]) onValue(value);
  };

  #lost = (/** @type {MessageEvent} */ event) => {
    const { count } = JSON.parse(event.data);
    const { missed } = this.#state;
    this.#update({ missed: count === null || missed === null ? null : missed + count });
  };

  #finished = (/** @type {MessageEvent} */ event) => {
    const { ok, error = '', redirect } = JSON.parse(event.data);
    this.#end();
    this.#state = { ...this.#state, status: 'closed', error: ok ? null : error };
    this.#notify();
    if (typeof redirect === 'string') this.#options.redirect(redirect);
  };

  #failed = () => {
    const closed = this.#source?.readyState === 2;
    if (this.#state.status !== 'connecting') this.#update({ status: 'connecting' });
    if (!closed) return; // the browser reconnects
    this.#release();
    void this.#explain();
  };

  /** Find out why a response was no stream, and decide whether there is another attempt. */
  async #explain() {
    let final = null;
    try {
      const response = await this.#options.probe(this.#url());
      const { status } = response;
      const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
      final = isFinal ? await errorOf(response) : null;
      if (!isFinal) await response.body?.cancel();
    } catch {
      // The server cannot be reached: the next attempt may succeed.
    }
    if (this.#ended) return;
    if (final !== null) {
      this.#end();
      this.#state = { ...this.#state, status: 'closed', error: final };
      this.#notify();
      return;
    }
    const pause = pauseBefore(LOST, this.#attempts, Math.random()) ?? 0;
    this.#attempts += 1;
    this.#timers.retry = setTimeout(() => this.#open(), pause);
  }
}

/**
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function errorOf(response) {
  try {
    const { error } = await response.json();
    return typeof error === 'string' ? error : translated(FAILED);
  } catch {
    return translated(FAILED);
  }
}
