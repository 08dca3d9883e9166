/** Looks for mistakes in UI code beside what is served: in a thread, which stays warm. */

import { Worker } from 'node:worker_threads';

/** @typedef {import('../../check/checker.js').File} File */
/** @typedef {import('../../check/checker.js').Order} Order */
/** @typedef {import('../../check/checker.js').Problem} Problem */
/** @typedef {{ problems: Problem[], unknown?: true }} Answer */

const THREAD = new URL('./thread.js', import.meta.url);

export class Mistakes {
  /** @type {Worker | null} */
  #thread = null;
  /** @type {Promise<unknown>} settled when the thread has nothing to do */
  #free = Promise.resolve();

  /** How many orders there were. */
  #orders = 0;

  /**
   * Return what is wrong with files. One order after the other; nothing is looked at for one
   * that waits when the next comes, since whoever gave it has given it up. An order of what has
   * `changed` since the last one is answered with `unknown` by a thread that had none.
   *
   * @param {Order | { changed: File[] }} order
   * @returns {Promise<Answer>}
   */
  look(order) {
    this.#orders += 1;
    const number = this.#orders;
    const isNewest = () => number === this.#orders;
    const found = this.#free.then(() => (isNewest() ? this.#ask(order) : { problems: [] }));
    this.#free = found.catch(() => {});
    return found;
  }

  /** End the thread. */
  close() {
    void this.#thread?.terminate();
  }

  /**
   * @param {Order | { changed: File[] }} order
   * @returns {Promise<Answer>}
   */
  #ask(order) {
    if (this.#thread === null && !('toolchain' in order)) {
      return Promise.resolve({ problems: [], unknown: true });
    }
    const thread = (this.#thread ??= new Worker(THREAD, {
      workerData: /** @type {Order} */ (order).toolchain,
    }));
    return new Promise((resolve, reject) => {
      const done = (/** @type {any} */ found) => {
        thread.off('error', failed);
        resolve(found);
      };
      const failed = (/** @type {unknown} */ error) => {
        thread.off('message', done);
        this.#thread = null; // it has ended
        reject(error);
      };
      thread.once('message', done);
      thread.once('error', failed);
      thread.postMessage(order);
    });
  }
}
