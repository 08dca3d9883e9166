/** Which values are all that a component gets: elements among them, such as its children. */

import { CALLING } from '../allowed.js';
import { contains, MaybeElements, nameOf } from './maybe-elements.js';

/** @typedef {import('../../check/tree.js').Node} Node */

const SEARCHED = 6; // names that lead to others: more of them count as such a value

/** Which values of a module may be all that a component gets, or hold it: lists, objects and functions. */
export class MaybeProps extends MaybeElements {
  /**
   * Whether a value may be all that a component gets, or hold it.
   *
   * @override
   * @param {Node} node
   * @param {number} [depth] of names that have led here
   * @returns {boolean}
   */
  isElement(node, depth = 0) {
    if (/^JSX(Element|Fragment)$/.test(node.type)) return false;
    if (isProps(this, node)) return true;
    const isPart = node.type === 'MemberExpression' && isProps(this, node.object);
    return isPart ? this.names().has(String(nameOf(node.property))) : super.isElement(node, depth);
  }

  /**
   * Whether a parameter, or a part of a pattern, may be it: what has a key of its own is a part of it.
   *
   * @override
   * @param {any} variable
   * @param {number} [depth]
   * @returns {boolean}
   */
  isFromElement(variable, depth = 0) {
    const { type, node } = variable.defs[0];
    const isPart = type === 'Variable' && this.keyOf(variable) !== '';
    if (isPart && node.init && isProps(this, node.init)) {
      return this.names().has(this.keyOf(variable));
    }
    return super.isFromElement(variable, depth);
  }
}

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
  const isFirst = index === 0 || around.params[index]?.type === 'RestElement';
  if (isFirst && isComponent(elements, around)) return true;
  return elements.callsOf(around).some(({ arguments: args }) => {
    const passed = args[index];
    return passed && passed !== around && isProps(elements, passed, depth + 1);
  });
}

/**
 * Whether a function may be a component: by its name, or because it is used other than in calls.
 *
 * @param {MaybeElements} elements
 * @param {Node} node
 */
function isComponent(elements, node) {
  if (/^([A-Z]|default$)/.test(elements.nameOfFunction(node))) return true;
  const named = elements.namedBy(node);
  const references = (named && elements.module.variableOf(named)?.references) ?? [];
  return references.some((/** @type {any} */ { identifier }) => {
    const parent = elements.parentOf(identifier);
    if (identifier === named || parent?.type !== 'CallExpression') return identifier !== named;
    const { callee } = parent;
    return callee !== identifier && !CALLING.has(nameOf(callee.property ?? callee));
  });
}

/** Whether a name is bound to the rest of a pattern. @param {MaybeElements} elements @param {Node} name */
function isRest(elements, name) {
  return elements.parentOf(name)?.type === 'RestElement';
}
