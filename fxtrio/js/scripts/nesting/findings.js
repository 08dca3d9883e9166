/** What has been looked at where, and what is found there that browsers rearrange. */

import { isFree } from './nesting.js';
import { addTo } from './sources.js';
import { isPartOfTable } from './tables.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('./sources.js').Place} Place */
/**
 * The element that shows a component, and that of the component which has it. Of more around these
 * nothing is known: children are then looked at wherever the component is used.
 *
 * @typedef {{ component: Node, site: Place, outer: Use | null, key: string }} Use
 */
/**
 * Where something is shown: the elements around it, what is to blame, the component that it is in, and
 * whether all of these elements are in the same code, or the innermost is. `isQuiet` is for what may lead
 * to elements, and is itself not shown.
 *
 * @typedef {object} At
 * @property {string} file
 * @property {string[]} chain
 * @property {Place} blamed
 * @property {string} via
 * @property {Use | null} use
 * @property {boolean} isOwn
 * @property {boolean} isDirect
 * @property {boolean} [isQuiet]
 */

/** Of what is in other code than the elements around it. */
export const AWAY = { isOwn: false, isDirect: false };

export class Findings {
  /** @type {Map<string, { node: Node, cause: string }[]>} */
  reasons = new Map();
  /** What has been looked at where. @type {Set<string>} */
  #seen = new Set();
  /** @type {Map<Node, number>} */
  #numbers = new Map();

  /**
   * Whether something is looked at for the first time in its place, whatever is to blame for it.
   *
   * @param {string} what
   * @param {At} at
   */
  isNewAnywhere(what, { chain, isOwn, isDirect, isQuiet }) {
    const key = `${what} ${chain.join()} ${isOwn} ${isDirect} ${isQuiet}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /** Whether a node is looked at for the first time in its place. @param {Node} node @param {At} at */
  isNew(node, at) {
    const numbers = `${this.numberOf(node)} ${this.numberOf(at.blamed.node)}`;
    return this.isNewAnywhere(`${numbers} ${at.use?.key}`, at);
  }

  /** @param {Node} node */
  numberOf(node) {
    const number = this.#numbers.get(node) ?? this.#numbers.size;
    this.#numbers.set(node, number);
    return number;
  }

  /** @param {At} at @param {string} cause */
  add({ blamed, via }, cause) {
    const reason = { node: blamed.node, cause: via === '' ? cause : `${cause} (${via})` };
    const before = this.reasons.get(blamed.file) ?? [];
    const isNew = !before.some((one) => one.node === reason.node && one.cause === reason.cause);
    if (isNew) addTo(this.reasons, blamed.file, reason);
  }

  /** @param {At} at @param {string} what cannot be followed */
  addUnknown(at, what) {
    if (!isFree(at.chain)) {
      this.add(
        at,
        `${what} in <${at.chain.findLast((one) => !isFree([one]))}>, where it may not be allowed`,
      );
    }
  }

  /** Something that is a text, or may be one. @param {At} at @param {string} [what] */
  addText(at, what = 'text') {
    const outer = at.chain.at(-1) ?? '';
    if (at.isQuiet || !isPartOfTable(outer)) return;
    this.add(at, `${what} in <${outer}>, which browsers rearrange`);
  }
}
