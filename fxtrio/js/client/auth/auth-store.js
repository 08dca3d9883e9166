/** Who is signed in, and the requests that change it. */

import { callAction } from '../actions/action-call.js';

/** @typedef {import('../types.js').User} User */
/** @typedef {import('../actions/action-call.js').ActionResult} ActionResult */

/**
 * @typedef {object} AuthState
 * @property {'loading' | 'signed-in' | 'signed-out'} status
 * @property {User | null} user
 * @property {string | null} error why the last request that should have changed it failed
 */

/** Nobody has asked the server yet. @type {AuthState} */
export const UNKNOWN = Object.freeze({ status: 'loading', user: null, error: null });

/** Keeps the signed-in user of one document. */
export class AuthStore {
  /** @type {AuthState} */
  #state;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {Promise<void> | null} */
  #asking = null;
  #fetch;
  #url;
  #cookies;

  /**
   * @param {object} options
   * @param {typeof globalThis.fetch} options.fetch
   * @param {string} options.base
   * @param {User | null} [options.user] as the page state says; the server is asked without it
   * @param {() => string} options.cookies
   */
  constructor({ fetch, base, user, cookies }) {
    this.#fetch = fetch;
    this.#url = `${base}/api/__auth`;
    this.#cookies = cookies;
    this.#state = user === undefined ? UNKNOWN : stateOf(user);
  }

  snapshot = () => this.#state;

  /** @param {() => void} listener */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Ask the server once, if nobody knows yet. */
  async ensure() {
    if (this.#state.status !== 'loading') return;
    this.#asking ??= this.refresh();
    await this.#asking;
  }

  /** Ask the server who is signed in. An app without the auth plugin has nobody. */
  async refresh() {
    try {
      const response = await this.#fetch(`${this.#url}/session`, {
        headers: { accept: 'application/json' },
      });
      const body = response.ok ? await response.json() : null;
      this.#set(stateOf(body?.user ?? null));
    } catch {
      this.#set(stateOf(null)); // the server cannot be reached, or has no such endpoint
    } finally {
      this.#asking = null;
    }
  }

  /**
   * Post to an endpoint. Never throws.
   *
   * @param {'login' | 'logout' | 'logout-all' | 'register'} name
   * @param {object} payload
   * @returns {Promise<ActionResult>}
   */
  async post(name, payload) {
    const result = await callAction({
      fetch: this.#fetch,
      url: `${this.#url}/${name}`,
      payload,
      cookies: this.#cookies(),
      invalidate: () => {},
    });
    if (!result.ok) this.#set({ ...this.#state, error: result.error ?? '' });
    else if (name === 'login') this.#set(stateOf(result.user ?? null));
    else if (name.startsWith('logout')) this.#set(stateOf(null));
    else this.#set({ ...this.#state, error: null });
    return result;
  }

  /**
   * A page is shown whose state says who is signed in; undefined says nothing.
   *
   * @param {User | null | undefined} user
   */
  show(user) {
    const same = user === undefined || JSON.stringify(user) === JSON.stringify(this.#state.user);
    const answered = user === null && this.#state.status === 'loading';
    if (!same || answered) this.#set(stateOf(user ?? null));
  }

  /** @param {AuthState} state */
  #set(state) {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/**
 * @param {User | null} user
 * @returns {AuthState}
 */
export function stateOf(user) {
  return { status: user === null ? 'signed-out' : 'signed-in', user, error: null };
}
