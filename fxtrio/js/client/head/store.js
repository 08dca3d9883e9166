/** The head elements of the shown page: `HEAD` values and mounted `<Head>` elements. */

import { DocumentAttributes } from './attributes.js';
import { applyHead } from './document.js';
import { divideHead, interleave, MARK, mergeHead } from './head.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/** Keeps the document's head in step with the page. */
export class HeadStore {
  /** @type {HeadNode[][]} */
  #values;
  /** @type {Set<HeadNode[]>[]} by level, in the order of the tree */
  #elements = [];
  #scheduled = false;
  #settled = false; // while a document hydrates, parts of it may still be to come
  #document;
  #attributes;
  #own;
  #nonce;
  #lang;
  #observer;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {HeadNode[][]} options.values the `HEAD` of each level
   * @param {HeadNode[][]} options.own those of the document's page: they came with its nonce
   * @param {string} [options.lang] of documents whose head says nothing about it
   * @param {string} options.nonce for its scripts, and those of `<Head>`, which are code
   */
  constructor({ document, values, own, nonce, lang }) {
    this.#document = document;
    this.#values = values;
    this.#own = own;
    this.#nonce = nonce;
    this.#lang = lang;
    const { roots } = divideHead(mergeHead(values));
    this.#attributes = new DocumentAttributes(document, roots, lang);
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
      const { roots, inner } = divideHead(mergeHead(interleave(this.#values, elements)));
      const sent = this.#values === this.#own ? [] : this.#values.flat();
      const untrusted = new Set(sent);
      const remove = this.#settled;
      this.#attributes.apply(roots, { lang: this.#lang, remove });
      applyHead(this.#document, inner, { nonce: this.#nonce, untrusted, remove });
    });
  }
}

/** @param {MutationRecord} change of the children of the head */
function isTitleOfReact({ addedNodes, removedNodes }) {
  return [...addedNodes, ...removedNodes].some(
    (node) => node instanceof HTMLTitleElement && !node.hasAttribute(MARK),
  );
}
