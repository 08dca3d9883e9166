/** Calls whose result is not the same in all browsers, since the language leaves a part of it open. */

import { isFunction, returnedBy } from './element-types/maybe-elements.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./module.js').Module} Module */
/** @typedef {import('./code.js').Reason} Reason */

const COMPARING = /^([!=]==?|[<>]=?|in|instanceof)$/;

/** Functions whose result is a whole number, whose digits are the same everywhere. */
const WHOLE = new Set(['ceil', 'floor', 'round', 'trunc']);

/**
 * @param {Node} call
 * @param {Module} module
 * @returns {Reason[]}
 */
export function openResults({ callee, arguments: args }, module) {
  if (callee.type !== 'MemberExpression' || args.length === 0) return [];
  const { object, property, computed } = callee;
  const name = computed ? property.value : property.name;
  if (name === 'toString' && !isWhole(object, module)) {
    return [
      { node: property, cause: 'toString() of a number that may have digits behind a point' },
    ];
  }
  if (!/^(sort|toSorted)$/.test(name)) return [];
  const compared = functionOf(args[0], module);
  return compared && returned(compared).some(isTruth)
    ? [{ node: args[0], cause: `${name}() by a function that returns true or false` }]
    : [];
}

/** Whether a number is written down, or a function has rounded it. @param {Node} node @param {Module} module */
function isWhole({ type, value, callee }, module) {
  if (type === 'Literal') return Number.isInteger(value);
  const { object, property } = callee ?? {};
  if (object?.name !== 'Math' || module.variableOf(object) !== null) return false;
  return WHOLE.has(property.name);
}

/** @param {Node} node @param {Module} module @returns {Node | null | undefined} */
function functionOf(node, module) {
  if (isFunction(node)) return node;
  if (node.type !== 'Identifier') return null;
  const variable = module.variableOf(node);
  const [definition] = variable?.defs ?? [];
  if (definition?.type === 'FunctionName') return definition.node;
  const init = module.initOf(variable);
  return init && isFunction(init) ? init : null;
}

/** @param {Node} node a function @returns {Node[]} */
function returned({ body }) {
  return body.type === 'BlockStatement' ? returnedBy(body) : [body];
}

/** Whether an expression is true or false, and no number that tells an order. @param {Node} node @returns {boolean} */
function isTruth({ type, operator, value, left, right, consequent, alternate, expression }) {
  switch (type) {
    case 'BinaryExpression':
      return COMPARING.test(operator);
    case 'Literal':
      return typeof value === 'boolean';
    case 'UnaryExpression':
      return operator === '!';
    case 'LogicalExpression':
      return isTruth(right) || (operator !== '&&' && isTruth(left));
    case 'ConditionalExpression':
      return isTruth(consequent) || isTruth(alternate);
    case 'ParenthesizedExpression':
      return isTruth(expression);
    default:
      return false;
  }
}
