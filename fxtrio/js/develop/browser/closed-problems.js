/** The problems whose panel was closed: they do not cover the page again by themselves. */

/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

/** Where the session of a tab has them, for the document after a reload. */
const CLOSED = 'fx-overlay-closed';

export class ClosedProblems {
  /** @type {Set<string>} */
  #closed = new Set();
  /** @type {Set<string>} those closed before a reload, until they are reported again */
  #before;
  #session;

  /** @param {Storage | undefined} session */
  constructor(session) {
    this.#session = session;
    this.#before = new Set(JSON.parse(session?.getItem(CLOSED) ?? '[]'));
  }

  /** @param {OverlayProblem} problem */
  has(problem) {
    return this.#closed.has(keyOf(problem));
  }

  /** @param {OverlayProblem[]} problems */
  close(problems) {
    const keys = problems.map(keyOf);
    for (const key of keys) this.#closed.add(key);
    if (keys.length > 0) this.#session?.setItem(CLOSED, JSON.stringify(keys));
  }

  /**
   * A problem is reported: it covers the page, unless this is the first report after a reload of
   * one that was closed.
   *
   * @param {OverlayProblem} problem
   */
  report(problem) {
    const key = keyOf(problem);
    if (this.#before.delete(key)) this.#closed.add(key);
    else this.#closed.delete(key);
  }

  /** What was wrong has been corrected: after the next reload it would be something new. */
  forget() {
    this.#session?.removeItem(CLOSED);
  }
}

/**
 * Return what a problem is recognized by, in every document and wherever its place has moved to.
 *
 * @param {OverlayProblem} problem
 */
function keyOf({ title, message }) {
  return `${title}\n${message}`;
}
