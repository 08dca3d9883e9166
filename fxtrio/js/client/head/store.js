/** The head elements of the shown page: `HEAD` values and mounted `<Head>` elements. */

import { MARK } from './tags.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */
/** @typedef {typeof import('./writer.js').HeadWriter} Writers */

/** Keeps the document's head in step with the page. */
export class HeadStore {
  /** @type {HeadNode[][]} */
  #values;
  /** @type {Set<HeadNode[]>[]} by level, in the order of the tree */
  #elements = [];
  #scheduled = false;
  #settled = false; // while a document hydrates, parts of it may still be to come
  #own;
  #lang;
  #first;
  #load;
  /** @type {InstanceType<Writers> | null} */
  #writer = null;
  #observer;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {HeadNode[][]} options.values the `HEAD` of each level
   * @param {HeadNode[][]} options.own those of the document's page: they came with its nonce
   * @param {string} [options.lang] of documents whose head says nothing about it
   * @param {string} options.nonce for its scripts, and those of `<Head>`, which are code
   * @param {() => Promise<Writers>} options.load what writes: a page whose head does not change
   *   needs none
   */
  constructor({ document, values, own, nonce, lang, load }) {
    this.#values = values;
    this.#own = own;
    this.#lang = lang;
    this.#first = { document, values, lang, nonce };
    this.#load = load;
    this.#observer = new MutationObserver((changes) => {
      if (changes.some(isTitleOfReact)) this.#schedule();
    });
    this.#observer.observe(document.head, { childList: true });
  }

  /** Stop following what React does to the title. */
  stop() {
    this.#observer.disconnect();
  }

  /**
   * Another page is shown.
   *
   * @param {HeadNode[][]} values the `HEAD` of each level
   * @param {string} [lang] of documents whose head says nothing about it
   */
  show(values, lang) {
    if (values === this.#values) return;
    this.#values = values;
    this.#lang = lang;
    this.#settled = true;
    this.#schedule();
  }

  /**
   * Add the nodes of a `<Head>`.
   *
   * @param {number} level
   * @param {HeadNode[]} nodes
   * @param {Writers} writers are there with the component
   * @returns {() => void} takes them away
   */
  add(level, nodes, writers) {
    if (this.#writer === null) {
      this.#writer = new writers(this.#first);
      this.#scheduled = false; // what waits for a load need not wait any more
    }
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
      if (this.#writer !== null) this.#write(this.#writer);
      else this.#load().then(this.#writeWith, this.#fail);
    });
  }

  /** @param {Writers} writers */
  #writeWith = (writers) => {
    if (this.#writer !== null) return; // a component has brought it, and it has written
    this.#writer = new writers(this.#first);
    this.#write(this.#writer);
  };

  /** @param {unknown} error */
  #fail = (error) => {
    if (this.#writer !== null) return;
    this.#scheduled = false;
    console.error(error);
  };

  /** @param {InstanceType<Writers>} writer */
  #write(writer) {
    this.#scheduled = false;
    writer.write({
      values: this.#values,
      elements: Array.from(this.#elements, (level) => (level ? [...level].flat() : [])),
      lang: this.#lang,
      sent: this.#values !== this.#own,
      remove: this.#settled,
    });
  }
}

/** @param {MutationRecord} change of the children of the head */
function isTitleOfReact({ addedNodes, removedNodes }) {
  return [...addedNodes, ...removedNodes].some(
    (node) => node instanceof HTMLTitleElement && !node.hasAttribute(MARK),
  );
}
