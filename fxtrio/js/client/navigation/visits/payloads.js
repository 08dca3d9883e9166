/** Navigation payloads that are kept: for their time to live, or from a prefetch to its click. */

import { keyOf } from '../urls.js';

/** @typedef {import('../../types.js').Visit} Visit */

/** Payloads kept at the same time; beyond it the one asked for longest ago goes. */
const CAPACITY = 50;

/** How long a prefetched payload without a time to live waits for its navigation (ms). */
const GRACE_MS = 30_000;

/**
 * @typedef {object} Entry
 * @property {Promise<Visit>} promise
 * @property {number} expires when it may no longer be used (ms); Infinity until it has come
 * @property {boolean} once whether the next navigation uses it up
 * @property {boolean} taken whether a navigation has used it
 * @property {readonly string[]} [tags] of its loaders; unknown until it has come
 */

/** Payloads by path and query. */
export class Payloads {
  /** @type {Map<string, Entry>} */
  #entries = new Map();
  #invalidations = 0; // payloads asked for before one are not kept
  #request;
  #now;

  /**
   * @param {(url: URL, options: { signal?: AbortSignal, fresh?: boolean, only?: readonly string[] }) => Promise<Visit>} request
   * @param {() => number} now milliseconds
   */
  constructor(request, now) {
    this.#request = request;
    this.#now = now;
  }

  /** How many are kept or on their way. */
  get size() {
    return this.#entries.size;
  }

  /**
   * Return the payload of a page that is navigated to: a kept one, or a new one.
   *
   * @param {URL} url
   * @param {{ signal?: AbortSignal, fresh?: boolean, only?: readonly string[] }} [options] `fresh`
   *   asks the server always; what has `only` some values is not kept
   * @returns {Promise<Visit>}
   */
  async take(url, { signal, fresh = false, only } = {}) {
    if (only !== undefined) return this.#request(url, { signal, fresh, only });
    const key = keyOf(url);
    if (fresh) this.#entries.delete(key);
    const entry = this.#fresh(key);
    if (entry !== undefined) {
      if (entry.once && entry.expires !== Infinity) this.#entries.delete(key);
      entry.taken = true;
      try {
        return await entry.promise;
      } catch {
        this.#delete(key, entry); // the prefetch failed: the navigation asks by itself
      }
    }
    const before = this.#invalidations;
    const visit = await this.#request(url, { signal, fresh });
    const ttl = ttlOf(visit);
    if (ttl > 0 && before === this.#invalidations) {
      const promise = Promise.resolve(visit);
      const expires = this.#now() + ttl;
      this.#add(key, { promise, expires, once: false, taken: true, tags: tagsOf(visit) });
    }
    return visit;
  }

  /**
   * Ask for a page that may be navigated to soon. Does nothing when it is kept already.
   *
   * @param {URL} url
   * @returns {Promise<Visit | null>} null when it could not be had
   */
  async prefetch(url) {
    const key = keyOf(url);
    const cached = this.#fresh(key);
    if (cached !== undefined) return cached.promise.catch(() => null);
    const promise = this.#request(url, {});
    /** @type {Entry} */
    const entry = { promise, expires: Infinity, once: true, taken: false };
    this.#add(key, entry);
    try {
      const visit = await promise;
      const ttl = ttlOf(visit);
      entry.expires = this.#now() + (ttl || GRACE_MS);
      entry.once = ttl === 0;
      entry.tags = tagsOf(visit);
      if (visit.kind === 'document' || (entry.once && entry.taken)) this.#delete(key, entry);
      return visit;
    } catch {
      this.#delete(key, entry);
      return null;
    }
  }

  /**
   * Forget payloads, also those on their way: of a URL, of all queries of a path, or all.
   *
   * @param {URL} [url]
   */
  invalidate(url) {
    this.#invalidations += 1;
    if (url === undefined) {
      this.#entries.clear();
      return;
    }
    this.#entries.delete(keyOf(url));
    if (url.search !== '') return;
    for (const key of this.#entries.keys()) {
      if (key.startsWith(`${url.pathname}?`)) this.#entries.delete(key);
    }
  }

  /**
   * Forget payloads whose loaders have named a tag, and those on their way.
   *
   * @param {string} tag
   */
  invalidateTag(tag) {
    this.#invalidations += 1;
    for (const [key, { tags }] of this.#entries) {
      if (tags === undefined || tags.includes(tag)) this.#entries.delete(key);
    }
  }

  /**
   * Forget what was prefetched for one navigation, also what is on its way: something has changed
   * since. What has a time to live is kept for that.
   */
  forgetPrefetched() {
    this.#invalidations += 1;
    for (const [key, { once }] of this.#entries) {
      if (once) this.#entries.delete(key);
    }
  }

  /** @param {string} key */
  #fresh(key) {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expires <= this.#now()) return undefined;
    this.#entries.set(key, entry); // the youngest again
    return entry;
  }

  /**
   * @param {string} key
   * @param {Entry} entry
   */
  #add(key, entry) {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > CAPACITY) {
      this.#entries.delete(/** @type {string} */ (this.#entries.keys().next().value));
    }
  }

  /**
   * @param {string} key
   * @param {Entry} entry
   */
  #delete(key, entry) {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/**
 * @param {Visit} visit
 * @returns {readonly string[]}
 */
function tagsOf(visit) {
  return (visit.kind === 'view' && visit.state.tags) || [];
}

/**
 * Return for how long a payload may be shown again (ms).
 *
 * @param {Visit} visit
 */
function ttlOf(visit) {
  if (visit.kind !== 'view' || !visit.state.ok) return 0;
  return Math.max(0, visit.state.ttl ?? 0) * 1000;
}
