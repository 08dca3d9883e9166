/** Which keys of objects are known, or lead to nothing but values that are written down. */

import { LEADING_OUT, OF_ARRAYS } from './allowed.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./module.js').Module} Module */

/**
 * Whether a computed key is a number, or a text that leads nowhere.
 *
 * @param {Node} key
 * @param {Module} module
 * @returns {boolean}
 */
export function isPlainKey(key, module) {
  if (key.type !== 'Literal') return isNumber(key, module);
  const text = String(key.value);
  return !LEADING_OUT.has(text) && !OF_ARRAYS.has(text);
}

/**
 * @param {Node} node
 * @param {Module} module
 * @returns {boolean}
 */
function isNumber(node, module) {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'number';
    case 'UpdateExpression':
      return true;
    case 'UnaryExpression':
      return /^[-+~]$/.test(node.operator);
    case 'BinaryExpression':
      if (node.operator === '+') return isNumber(node.left, module) && isNumber(node.right, module);
      return /^([-*/%&|^]|<<|>>>?)$/.test(node.operator);
    case 'Identifier':
      return isCounter(node, module);
    default:
      return false;
  }
}

/**
 * Whether a variable begins as a number, and is only counted up or down.
 *
 * @param {Node} identifier
 * @param {Module} module
 */
function isCounter(identifier, module) {
  const variable = module.variableOf(identifier);
  const init = module.initOf(variable);
  if (init?.type !== 'Literal' || typeof init.value !== 'number') return false;
  return variable.references.every(
    (/** @type {any} */ one) => !one.isWrite() || one.init || !one.writeExpr,
  );
}

/**
 * Whether an object is a table that is written down: constant texts, numbers and elements.
 *
 * What a key that it does not have leads to is a function of the language at most, whose members
 * are not read with keys like this one, and which is not called (`changes.js`).
 *
 * @param {Node} object
 * @param {Module} module
 */
export function isTable(object, module) {
  if (object.type !== 'Identifier' || module.meaningOf(object).kind !== 'fresh') return false;
  const init = module.initOf(module.variableOf(object));
  const values =
    init?.type === 'ObjectExpression'
      ? init.properties.map((/** @type {Node} */ one) => one.value)
      : init?.elements;
  const isConstant = /^(Literal|TemplateLiteral|JSXElement|JSXFragment)$/;
  return (
    values?.every((/** @type {Node | null | undefined} */ one) =>
      isConstant.test(one?.type ?? ''),
    ) ?? false
  );
}
