/** Code that does the same everywhere, though what it is made of is on no list. */

import { ENVIRONMENT } from './allowed.js';
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
