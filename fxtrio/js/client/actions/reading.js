/** The values of one call of an action that may stream them: what they come to, and their end. */

/**
 * @typedef {(all: any, value: any) => any} Reduce
 * @typedef {{ reduce?: Reduce, initial?: any }} ReadingOptions
 */

/** @type {Reduce} */
const last = (_, value) => value;

/** One call. Its action need not stream. */
export class Reading {
  #controller = new AbortController();
  #left = false;
  #reduce;
  #show;

  /** Whether the action streams: known when its response begins. */
  streamed = false;

  /** What the values have come to so far. */
  data;

  /** What `reduce` has thrown, in an array; it ends the stream. @type {unknown[]} */
  thrown = [];

  /**
   * @param {ReadingOptions} [options] by default `data` is the last value, and null before it
   * @param {(data: any) => void} [show] called with `data` when values have come
   */
  constructor({ reduce = last, initial = null } = {}, show = () => {}) {
    this.#reduce = reduce;
    this.#show = show;
    this.data = initial;
  }

  get signal() {
    return this.#controller.signal;
  }

  /** End the call. The server cancels an action that streams. */
  stop() {
    this.#controller.abort();
  }

  /**
   * Nobody is interested in values any more: end the call if, or once it is known that, it
   * streams. Another action runs on, and what it asks of the router is done.
   */
  leave() {
    this.#left = true;
    if (this.streamed) this.stop();
  }

  /** The response begins, and it is a stream. */
  begin() {
    this.streamed = true;
    if (this.#left) this.stop();
    else this.#show(this.data);
  }

  /** @param {any[]} values */
  take(values) {
    if (this.signal.aborted) return;
    try {
      this.data = values.reduce((all, value) => this.#reduce(all, value), this.data);
    } catch (error) {
      this.thrown.push(error);
      this.stop();
      return;
    }
    this.#show(this.data);
  }
}
