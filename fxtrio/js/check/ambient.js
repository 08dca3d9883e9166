/** Names that exist without a definition: what a page says of them. Pure. */

import { boundNames, walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */

const COMMENT = /^\s*globals?\s([\s\S]*)$/;

/**
 * Return the names that a file declares without defining them (`declare const x`, `declare
 * global`, a comment of the form `global x`), and those that it tests by `typeof`.
 *
 * @param {Node} program
 * @param {readonly { value: string }[]} comments
 * @returns {Set<string>}
 */
export function ambientNames(program, comments) {
  /** @type {Set<string>} */
  const names = new Set();
  const add = (/** @type {Node} */ node) => boundNames(node).forEach((name) => names.add(name));
  walk(program, (node) => {
    if (node.type === 'UnaryExpression' && node.operator === 'typeof') {
      if (node.argument.type === 'Identifier') names.add(node.argument.name);
    } else if (node.declare === true) {
      add(node);
    }
  });
  for (const name of globalNames(program)) names.add(name);
  for (const { value } of comments) {
    const list = value.match(COMMENT)?.[1] ?? '';
    for (const [name] of list.matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)) names.add(name);
  }
  return names;
}

/**
 * Return the names that a file makes known to all files, by `declare global`.
 *
 * @param {Node} program
 * @returns {Set<string>}
 */
export function globalNames(program) {
  /** @type {Set<string>} */
  const names = new Set();
  walk(program, (node) => {
    if (node.type !== 'TSGlobalDeclaration' && node.kind !== 'global') return;
    walk(node, (inner) => {
      if (!/Declaration$|^TSDeclareFunction$/.test(inner.type)) return;
      for (const name of boundNames(inner)) names.add(name);
    });
  });
  return names;
}

/**
 * Return the names that a declaration file (`.d.ts`) makes known to all files.
 *
 * @param {Node} program
 * @returns {Set<string>}
 */
export function declaredNames(program) {
  const names = ambientNames(program, []);
  const isModule = program.body.some((/** @type {Node} */ node) => /^(Im|Ex)port/.test(node.type));
  if (!isModule) {
    for (const node of program.body) for (const name of boundNames(node)) names.add(name);
  }
  return names;
}
