/** Code that does the same everywhere, though what it is made of is on no list. */

import { ENVIRONMENT, SETTERS } from './allowed.js';
import { isDisplayName } from './changes.js';

/** @typedef {import('../check/tree.js').Node} Node */

/** Whether a statement gives a component the name that tools show. @param {Node} node */
export function isNaming({ type, expression }) {
  if (type !== 'ExpressionStatement' || expression.type !== 'AssignmentExpression') return false;
  return isDisplayName(expression.left) && expression.right.type === 'Literal';
}

/** Whether an expression is replaced with the same text in both bundles. @param {Node} node */
export function isConstantOfBuild({ type, object, property, computed }) {
  if (type !== 'MemberExpression' || computed || object.type !== 'MemberExpression') return false;
  if (object.computed || object.property.name !== 'env') return false;
  const outer = object.object;
  if (outer.type === 'MetaProperty') return ENVIRONMENT.test(property.name);
  return outer.type === 'Identifier' && outer.name === 'process' && property.name === 'NODE_ENV';
}

/**
 * Whether a statement gives `fx/client` a function that only scripts call.
 *
 * @param {Node} node
 * @param {import('./module.js').Module} module
 */
export function isSetter({ type, expression }, module) {
  if (type !== 'ExpressionStatement' || expression.type !== 'CallExpression') return false;
  const { callee, arguments: args } = expression;
  if (callee.type !== 'Identifier' || args.length !== 1) return false;
  const isFunction = /^(Identifier|ArrowFunctionExpression|FunctionExpression)$/.test(args[0].type);
  return isFunction && isSetterOf(callee, module);
}

/**
 * Whether such a function is named elsewhere than in its import. The calls are left out before.
 *
 * @param {Node} identifier
 * @param {Node | null} parent
 * @param {import('./module.js').Module} module
 */
export function isSetterUsed(identifier, parent, module) {
  return !/^Import/.test(parent?.type ?? '') && isSetterOf(identifier, module);
}

/** @param {Node} identifier @param {import('./module.js').Module} module */
function isSetterOf(identifier, module) {
  const { specifier, name } = /** @type {any} */ (module.meaningOf(identifier));
  return isSetterName(specifier, name);
}

/**
 * Whether an import is such a function of `fx/client`.
 *
 * @param {string | undefined} specifier
 * @param {string} name
 */
export function isSetterName(specifier, name) {
  return specifier === 'fx/client' && SETTERS.has(name);
}
