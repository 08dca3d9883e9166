/** Deferred values: promises in what loaders returned, settled while the response comes. */

import { merged, put } from './own-keys.js';
import { translated } from './messages.js';

/** @typedef {import('../types.js').State} State */
/** @typedef {import('../types.js').Json} Json */

/**
 * One value as the server sends it. A `value` that failed has the keys of `PageError`.
 *
 * @typedef {[name: string, value: any, failed: boolean]} Entry
 */

/** The deferred function has failed: what the error page gets of it. */
export class DeferredError extends Error {
  /** @param {import('../types.js').PageError} error */
  constructor(error) {
    super(error.message);
    this.name = error.type;
    this.pageError = error;
  }
}

/**
 * Put promises where a state has deferred values, also for those that are there already.
 *
 * @param {State} state
 * @param {(name: string) => Promise<any>} [promiseOf] of a value that follows
 */
export function bindPromises(state, promiseOf = () => new Promise(() => {})) {
  const { promises, layouts, props } = state;
  if (promises === undefined) return;
  for (const name of promises) {
    const colon = name.indexOf(':');
    const [place, key] = [name.slice(0, colon), name.slice(colon + 1)];
    /** @type {Record<string, any> | true | null} */
    const mark = place === 'page' ? props.data : layouts[Number(place)];
    /** @type {Record<string, any>} */
    const data = mark === true || mark === null ? props.layoutData : mark;
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (typeof value?.then === 'function') continue; // bound before
    put(data, key, Object.hasOwn(data, key) ? fulfilled(value) : promiseOf(name));
  }
  if (layouts.some((mark) => mark !== null && mark !== true)) {
    props.layoutData = merged(layouts);
  }
}

/**
 * A promise with what React reads of one, so that it need not wait for what has come.
 *
 * @param {any} value
 * @returns {Promise<any>}
 */
function fulfilled(value) {
  return Object.assign(Promise.resolve(value), { status: 'fulfilled', value });
}

/**
 * End the responses of a state, unless another one shows their values as well.
 *
 * @param {State} [state]
 * @param {State} [next]
 */
export function stopValues(state, next) {
  for (const stop of state?.stops ?? []) {
    if (!next?.stops?.includes(stop)) stop();
  }
}

/** The deferred values of one response. */
export class Promises {
  /** @type {Map<string, { promise: any, resolve: (value: any) => void, reject: (error: unknown) => void }>} */
  #entries = new Map();
  #isOver = false;

  /** @param {string} name */
  of = (name) => this.#entry(name).promise;

  /** @param {Entry} entry */
  settle = ([name, value, failed]) => {
    const { promise, resolve, reject } = this.#entry(name);
    if (promise.status === 'fulfilled' || promise.status === 'rejected') return;
    if (failed) {
      const reason = new DeferredError(value);
      Object.assign(promise, { status: 'rejected', reason });
      reject(reason);
    } else {
      Object.assign(promise, { status: 'fulfilled', value });
      resolve(value);
    }
  };

  /** Nothing follows: what has not come has failed. */
  end() {
    this.#isOver = true;
    for (const name of this.#entries.keys()) this.settle([name, lost(), true]);
  }

  /** @param {string} name */
  #entry(name) {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      /** @type {any} */
      let ends;
      const promise = new Promise((resolve, reject) => (ends = { resolve, reject }));
      promise.catch(() => {}); // no component may wait for it
      entry = { promise, ...ends };
      this.#entries.set(name, /** @type {any} */ (entry));
      if (this.#isOver) this.settle([name, lost(), true]);
    }
    return /** @type {NonNullable<typeof entry>} */ (entry);
  }
}

/**
 * Return the error of values that do not come any more.
 *
 * @returns {import('../types.js').PageError}
 */
export function lost() {
  const message = translated('The connection was lost. Reload the page.');
  return { message, statusCode: 503, type: 'ConnectionLost', data: {}, requestId: '' };
}
