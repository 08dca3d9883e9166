/**
 * Elements whose text the server and browsers do not take alike: `<pre>`, whose first newline browsers
 * leave out, `<style>` and `<title>`, of which React writes one text alone, and texts that drawings and
 * formulas have as elements.
 */

import { drawingAround } from '../nesting/nesting.js';
import { isBlankText } from '../nesting/tables.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */

/** Methods whose result is a text, whatever they are called on. */
const OF_TEXT = new Set([
  ...['charAt', 'join', 'normalize', 'padEnd', 'padStart', 'repeat', 'replace', 'replaceAll'],
  ...[
    'substring',
    'toFixed',
    'toLowerCase',
    'toString',
    'toUpperCase',
    'trim',
    'trimEnd',
    'trimStart',
  ],
]);

/** Expressions that are a text, a number or nothing; data is a list nowhere that it is shown as a text. */
const PLAIN = new Set([
  ...['BinaryExpression', 'Literal', 'MemberExpression', 'TemplateLiteral', 'UnaryExpression'],
]);

/** Names and expressions that lead to others (count). */
const DEEPEST = 12;

/**
 * Return why an element may not have the same text in browsers; "" if it has.
 *
 * @param {Node} element
 * @param {string} name
 * @param {string[]} around elements around it, the innermost last
 * @param {Module} module
 * @returns {string}
 */
export function textProblem(element, name, around, module) {
  const drawing = drawingAround(around);
  if (name === 'textarea' && drawing !== undefined) return `<textarea> in <${drawing}>`;
  if (name === 'pre') return preProblem(childrenOf(element), module);
  const isTitle = name === 'title' && (drawing !== undefined || around.length === 0);
  if (name !== 'style' && !isTitle) return '';
  const children = childrenOf(element);
  if (children.length > 1 || !children.every((one) => isText(one, module))) {
    return `children of <${name}> that may be more than one text`;
  }
  const isWritten = children.every((one) => /^[^<&]*$/.test(writtenIn(one) ?? '<'));
  return name === 'style' && drawing !== undefined && !isWritten
    ? `a <style> in <${drawing}> whose text browsers may read as elements`
    : '';
}

/** @param {Node[]} children @param {Module} module */
function preProblem(children, module) {
  const [first] = children;
  if (first === undefined) return '';
  const text = writtenIn(first);
  const isElement =
    first.type === 'JSXElement' && /^[a-z]/.test(first.openingElement.name.name ?? '');
  if (isElement || (text !== undefined && !/^(\n|\r|&(#|NewLine))/.test(text))) return '';
  if (children.length === 1 && isText(first, module)) return '';
  return 'children of <pre> that may begin with a newline, which browsers leave out';
}

/** Return what React gets as the children of an element. @param {Node} element @returns {Node[]} */
function childrenOf({ children, openingElement }) {
  const inside = children.filter(isRendered);
  const attributes = openingElement.attributes.filter(
    (/** @type {Node} */ one) => one.name?.name === 'children' && one.value,
  );
  return inside.length > 0 ? inside : attributes.map((/** @type {Node} */ one) => one.value);
}

/** Whether a child remains when the blanks between lines are left out. @param {Node} child */
function isRendered({ type, value, expression }) {
  if (type === 'JSXText') return !(isBlankText(value) && value.includes('\n'));
  return expression?.type !== 'JSXEmptyExpression';
}

/** Return the text that is written down for a child. @param {Node} child @returns {string | undefined} */
function writtenIn({ type, value, expression }) {
  if (type === 'JSXText') return value.replace(/^[\t\r ]*\n\s*/, '');
  if (type === 'Literal') return typeof value === 'string' ? value : undefined;
  if (expression?.type === 'Literal') return writtenIn(expression);
  const isWritten = expression?.type === 'TemplateLiteral' && expression.expressions.length === 0;
  return isWritten ? (expression.quasis[0].value.cooked ?? undefined) : undefined;
}

/**
 * Whether what is shown is one text: no list, and no element.
 *
 * @param {Node} node
 * @param {Module} module
 * @param {number} [depth] of names that have led here
 * @returns {boolean}
 */
function isText(node, module, depth = 0) {
  if (depth > DEEPEST) return false;
  const isOne = (/** @type {Node} */ one) => isText(one, module, depth + 1);
  switch (node.type) {
    case 'JSXText':
      return true;
    case 'JSXExpressionContainer':
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return isOne(node.expression);
    case 'ConditionalExpression':
      return isOne(node.consequent) && isOne(node.alternate);
    case 'LogicalExpression':
      return isOne(node.left) && isOne(node.right);
    case 'CallExpression':
      return returnsText(node, module);
    case 'Identifier': {
      if (node.name === 'children') return false;
      const variable = module.variableOf(node);
      if (variable && module.isWritten(variable)) return false;
      const init = module.initOf(variable);
      return init ? isOne(init) : true;
    }
    case 'MemberExpression':
      return node.property.name !== 'children' && node.property.value !== 'children';
    default:
      return PLAIN.has(node.type);
  }
}

/** Whether a call returns a text. @param {Node} call @param {Module} module */
function returnsText({ callee }, module) {
  const isGlobal = (/** @type {Node} */ one) =>
    one.type === 'Identifier' && module.variableOf(one) === null;
  if (callee.type !== 'MemberExpression') return isGlobal(callee) && callee.name === 'String';
  const { object, property, computed } = callee;
  if (computed) return false;
  if (isGlobal(object)) return object.name === 'JSON' && property.name === 'stringify';
  return OF_TEXT.has(property.name);
}
