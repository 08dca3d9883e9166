/** Writes the head of a page that is shown into its document. */

import { DocumentAttributes } from './attributes.js';
import { applyHead } from './document.js';
import { divideHead, interleave, mergeHead } from './head.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/**
 * @typedef {object} Shown
 * @property {HeadNode[][]} values the `HEAD` of each level
 * @property {HeadNode[][]} elements those of mounted `<Head>`, by level
 * @property {string} [lang] of documents whose head says nothing about it
 * @property {boolean} sent whether a payload has sent the values: their scripts get no nonce
 * @property {boolean} remove false while components may still be to come
 */

/** Of one document. */
export class HeadWriter {
  #document;
  #nonce;
  #attributes;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {HeadNode[][]} options.values what it was written with
   * @param {string} [options.lang] of it
   * @param {string} options.nonce
   */
  constructor({ document, values, lang, nonce }) {
    this.#document = document;
    this.#nonce = nonce;
    const { roots } = divideHead(mergeHead(values));
    this.#attributes = new DocumentAttributes(document, roots, lang);
  }

  /** @param {Shown} head */
  write({ values, elements, lang, sent, remove }) {
    const { roots, inner } = divideHead(mergeHead(interleave(values, elements)));
    const untrusted = new Set(sent ? values.flat() : []);
    this.#attributes.apply(roots, { lang, remove });
    applyHead(this.#document, inner, { nonce: this.#nonce, untrusted, remove });
  }
}
