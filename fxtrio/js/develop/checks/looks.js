/**
 * Remembers looks at files without a mistake: `fx dev` looks at all files after each save, of which
 * one has changed.
 */

import path from 'node:path';

import { lookAt } from '../../check/checker.js';
import { moduleFile } from '../../check/specifiers.js';

/** @typedef {import('../../check/checker.js').File} File */
/** @typedef {import('../../check/checker.js').Looked} Looked */

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
