/** The head elements of the shown page: `HEAD` values and mounted `<Head>` elements. */

import { applyHead } from './head-document.js';
import { interleave, mergeHead } from './head.js';

/** @typedef {import('./types.js').HeadNode} HeadNode */

/** Keeps the document's head in step with the page. */
export class HeadStore {
  /** @type {HeadNode[][]} */
  #values;
  /** @type {Set<HeadNode[]>[]} by level, in the order of the tree */
  #elements = [];
  #scheduled = false;
  #settled = false; // while a document hydrates, parts of it may still be to come
  #document;
  #own;
  #nonce;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {HeadNode[][]} options.values the `HEAD` of each level
   * @param {HeadNode[][]} options.own those of the document's page: they came with its nonce
   * @param {string} options.nonce for its scripts, and those of `<Head>`, which are code
   */
  constructor({ document, values, own, nonce }) {
    this.#document = document;
    this.#values = values;
    this.#own = own;
    this.#nonce = nonce;
  }

  /**
   * Another page is shown.
   *
   * @param {HeadNode[][]} values the `HEAD` of each level
   */
  show(values) {
    if (values === this.#values) return;
    this.#values = values;
    this.#settled = true;
    this.#schedule();
  }

  /**
   * Add the nodes of a `<Head>`.
   *
   * @param {number} level
   * @param {HeadNode[]} nodes
   * @returns {() => void} takes them away
   */
  add(level, nodes) {
    const elements = (this.#elements[level] ??= new Set());
    elements.add(nodes);
    this.#schedule();
    return () => {
      elements.delete(nodes);
      this.#settled = true;
      this.#schedule();
    };
  }

  /** Apply once, after all components that change together have said so. */
  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      const elements = Array.from(this.#elements, (level) => (level ? [...level].flat() : []));
      const nodes = mergeHead(interleave(this.#values, elements));
      const sent = this.#values === this.#own ? [] : this.#values.flat();
      const untrusted = new Set(sent);
      applyHead(this.#document, nodes, { nonce: this.#nonce, untrusted, remove: this.#settled });
    });
  }
}
