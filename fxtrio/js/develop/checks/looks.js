/** Looks at the files of one project again and again, of which most stay the same. */

import path from 'node:path';

import { listed, lookAt, lookAtAll, lookAtChanged } from '../../check/checker.js';
import { moduleFile } from '../../check/imports/specifiers.js';

/** @typedef {import('../../check/checker.js').File} File */
/** @typedef {import('../../check/checker.js').Looked} Looked */
/** @typedef {import('../../check/checker.js').LookedAtAll} LookedAtAll */
/** @typedef {import('../../check/checker.js').Order} Order */
/** @typedef {import('../../check/checker.js').Problem} Problem */
/** @typedef {import('../../check/checker.js').Tools} Tools */

/** Answers orders: whole ones, and those that name what has changed since the last. */
export class ProjectLooks {
  /** @type {{ order: Order, found: LookedAtAll } | null} */
  #last = null;
  #looks = new Looks();
  #tools;

  /** @param {Tools} tools */
  constructor(tools) {
    this.#tools = tools;
  }

  /**
   * @param {Order | { changed: File[] }} message
   * @returns {{ problems: Problem[], unknown?: true }} `unknown` when there was no whole order
   */
  answer(message) {
    const last = this.#last;
    this.#last = null; // whatever fails, the next order is a whole one
    if ('files' in message) return this.#whole(message);
    if (last === null) return { problems: [], unknown: true };
    const changed = new Map(message.changed.map((file) => [file.path, file]));
    const files = last.order.files.map((file) => changed.get(file.path) ?? file);
    const order = { ...last.order, files };
    const found = lookAtChanged(this.#tools, last.order, message.changed, last.found);
    if (found === undefined) return this.#whole(order);
    this.#last = { order, found };
    return { problems: listed(found) };
  }

  /** @param {Order} order */
  #whole(order) {
    const found = lookAtAll(this.#tools, order, this.#looks.look);
    this.#last = { order, found };
    return { problems: listed(found) };
  }
}

/** Remembers looks at files without a mistake. */
export class Looks {
  /** @type {Map<string, { file: File, declared: string, looked: Looked }>} by path */
  #known = new Map();

  /**
   * Return what `lookAt` does.
   *
   * @type {typeof lookAt}
   */
  look = (tools, root, declared, file) => {
    const names = [...declared].join();
    const known = this.#known.get(file.path);
    if (
      known !== undefined &&
      known.declared === names &&
      isSame(known.file, file) &&
      leadsThere(known.looked, root, file.path)
    ) {
      return known.looked;
    }
    const looked = lookAt(tools, root, declared, file);
    // What is wrong may be put right by files that come, wherever they are.
    if (looked.problems.length > 0) this.#known.delete(file.path);
    else this.#known.set(file.path, { file, declared: names, looked });
    return looked;
  };
}

/**
 * @param {File} one
 * @param {File} other
 */
function isSame(one, other) {
  const rest = (/** @type {File} */ { python, actions, shared }) =>
    JSON.stringify([python, actions, shared]);
  return one.text === other.text && rest(one) === rest(other);
}

/**
 * Whether imports still mean the same files.
 *
 * @param {Looked} looked
 * @param {string} root
 * @param {string} source
 */
function leadsThere({ resolved }, root, source) {
  const folder = path.dirname(path.join(root, source));
  return resolved.every(([specifier, file]) => moduleFile(specifier, root, folder) === file);
}
