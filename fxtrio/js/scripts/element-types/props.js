/** Which values are all that a component gets: elements among them, such as its children. */

import { contains } from './maybe-elements.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('./maybe-elements.js').MaybeElements} MaybeElements */

const SEARCHED = 6; // names that lead to others: more of them count as such a value

/**
 * Whether a value is all that a component gets, or the rest of it.
 *
 * @param {MaybeElements} elements of the module
 * @param {Node} node
 * @param {number} [depth] of names that have led here
 * @returns {boolean}
 */
export function isProps(elements, node, depth = 0) {
  if (depth > SEARCHED) return true;
  if (node.type === 'ObjectExpression') {
    return node.properties.some(
      (/** @type {Node} */ { argument }) => argument && isProps(elements, argument, depth + 1),
    );
  }
  const variable = node.type === 'Identifier' && elements.module.variableOf(node);
  const [definition] = (variable && variable.defs) || [];
  if (definition?.type === 'Parameter') return isOfComponent(elements, definition, depth);
  if (definition?.type !== 'Variable') return false;
  const { init, id } = definition.node;
  const isWhole = id === definition.name || isRest(elements, definition.name);
  return Boolean(init) && isWhole && isProps(elements, init, depth + 1);
}

/**
 * @param {MaybeElements} elements
 * @param {{ name: Node, node: Node }} parameter and its function
 * @param {number} depth
 */
function isOfComponent(elements, { name, node: around }, depth) {
  const index = around.params.findIndex((/** @type {Node} */ one) => contains(one, name));
  if (around.params[index] !== name && !isRest(elements, name)) return false;
  if (index === 0 && /^([A-Z]|default$)/.test(elements.nameOfFunction(around))) return true;
  return elements.callsOf(around).some(({ arguments: given }) => {
    const passed = given[index];
    return passed && passed !== around && isProps(elements, passed, depth + 1);
  });
}

/** Whether a name is bound to the rest of a pattern. @param {MaybeElements} elements @param {Node} name */
function isRest(elements, name) {
  return elements.parentOf(name)?.type === 'RestElement';
}
