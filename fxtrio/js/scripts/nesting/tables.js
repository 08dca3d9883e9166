/** What is directly in tables and their parts: browsers move text and other elements out of these. */

import { TELLING as TELLING_METHODS } from '../allowed.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../code.js').Reason} Reason */

export const ROWS = ['tbody', 'thead', 'tfoot'];

/** What may be in these, besides what runs or styles. @type {Record<string, string[]>} */
export const CHILDREN = {
  ...{ table: ['caption', 'colgroup', ...ROWS], tr: ['td', 'th'], colgroup: ['col'] },
  ...{ tbody: ['tr'], thead: ['tr'], tfoot: ['tr'] },
};
export const ANYWHERE = new Set(['script', 'style', 'template']);

/** What browsers move out of a table, if it is directly in one. */
const TEXT = new Set(['Literal', 'TemplateLiteral', 'MemberExpression']);

/** Methods that make a list of what a function returns. */
const MAPPING = new Set(['flatMap', 'map']);

/** What compares, and functions and methods that tell whether something is so. */
const COMPARING = /^([!=]==?|[<>]=?|in|instanceof)$/;
const TELLING = /^(Array\.isArray|Boolean|Number\.is\w+|Object\.(hasOwn|is)|is(Finite|NaN))$/;

/** Names and expressions that lead to others (count). */
const DEEPEST = 12;

/**
 * Return what is directly in a table or a row of it and is not allowed there, as far as it shows: text,
 * and values that hold it or elements. A value in the table itself has to show that it is none of its
 * rows, since these are easily written without the part around them.
 *
 * @param {Node} element
 * @param {string} name
 * @param {import('../module.js').Module} module
 * @returns {Reason[]}
 */
export function misplacedValues({ children, openingElement }, name, module) {
  if (!Object.hasOwn(CHILDREN, name)) return [];
  const attributes = openingElement.attributes.filter(
    (/** @type {Node} */ one) => one.name?.name === 'children',
  );
  const values = [...children, ...attributes.map((/** @type {Node} */ one) => one.value ?? one)];
  return values.flatMap((/** @type {Node} */ node) => {
    if (node.type === 'JSXText' || node.type === 'Literal') {
      return isBlank(node) ? [] : [textIn(node, name)];
    }
    if (node.type !== 'JSXExpressionContainer') return [];
    if (TEXT.has(node.expression.type)) return isBlank(node.expression) ? [] : [textIn(node, name)];
    const fits = fitsIn(node.expression, name, module);
    return (fits ?? name !== 'table')
      ? []
      : [{ node, cause: `a value in <${name}>, which browsers may rearrange` }];
  });
}

/** @param {Node} node @param {string} name @returns {Reason} */
function textIn(node, name) {
  return { node, cause: `text in <${name}>, which browsers rearrange` };
}

/** Whether a text or a literal shows nothing. @param {Node} node */
export function isBlank({ type, value }) {
  return (
    /Text|Literal/.test(type) &&
    (typeof value === 'string' ? isBlankText(value) : typeof value === 'boolean' || value === null)
  );
}

/** Whether a text is only of what HTML calls blank, which is less than in JavaScript. @param {string} text */
export function isBlankText(text) {
  return !/[^\t\n\f\r ]/.test(text);
}

/**
 * Whether all elements that a value may hold are allowed in a part of a table; undefined where that does
 * not show.
 *
 * @param {Node | null} value
 * @param {string} parent
 * @param {import('../module.js').Module} module
 * @param {number} [depth] of names that have led here
 * @returns {boolean | undefined}
 */
function fitsIn(value, parent, module, depth = 0) {
  const fits = (/** @type {Node | null} */ one) => fitsIn(one, parent, module, depth + 1);
  switch (value === null || depth > DEEPEST ? '' : value.type) {
    case 'JSXEmptyExpression':
      return true;
    case 'Literal':
      return isBlank(/** @type {Node} */ (value));
    case 'JSXElement': {
      const { name } = value?.openingElement.name ?? {};
      return !/^[a-z]/.test(name ?? '') || CHILDREN[parent].includes(name) || ANYWHERE.has(name);
    }
    case 'JSXFragment':
      return whole(value?.children.filter((/** @type {Node} */ one) => !isBlank(one)).map(fits));
    case 'JSXExpressionContainer':
      return fits(value?.expression);
    case 'ConditionalExpression':
      return whole([fits(value?.consequent), fits(value?.alternate)]);
    case 'LogicalExpression':
      return value?.operator === '&&'
        ? fits(value?.right)
        : whole([fits(value?.left), fits(value?.right)]);
    case 'ArrayExpression':
      return whole(value?.elements.map(fits));
    case 'CallExpression':
      return MAPPING.has(value?.callee.property?.name)
        ? fits(value?.arguments[0] ?? null)
        : undefined;
    case 'ArrowFunctionExpression':
      return fits(value?.body);
    case 'BlockStatement': {
      const last = value?.body.at(-1);
      return last?.type === 'ReturnStatement' && value?.body.slice(0, -1).every(isDeclaration)
        ? fits(last.argument)
        : undefined;
    }
    case 'Identifier': {
      const variable = module.variableOf(/** @type {Node} */ (value));
      const init = variable && !module.isWritten(variable) ? module.initOf(variable) : undefined;
      return init ? fits(init) : undefined;
    }
    default:
      return undefined;
  }
}

/** @param {Node} statement */
function isDeclaration({ type }) {
  return type === 'VariableDeclaration';
}

/** @param {(boolean | undefined)[]} parts */
function whole(parts) {
  return parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
}

/**
 * Return an element that is allowed in a part of a table where another one is; undefined if that is
 * allowed itself.
 *
 * @param {string} name
 * @param {string} parent
 * @returns {string | undefined}
 */
export function misplaced(name, parent) {
  if (!Object.hasOwn(CHILDREN, parent) || CHILDREN[parent].includes(name)) return undefined;
  return CHILDREN[parent].at(-1) === 'tfoot' ? 'tbody' : CHILDREN[parent][0];
}

/** Whether browsers move text out of an element. @param {string} name */
export function isPartOfTable(name) {
  return Object.hasOwn(CHILDREN, name);
}

/**
 * Whether a value is true, false or nothing, which React does not show; 0 is a text.
 *
 * @param {Node} value
 * @param {import('../module.js').Module} module
 * @param {number} [depth] of names that have led here
 * @returns {boolean}
 */
export function isHidden(value, module, depth = 0) {
  const hidden = (/** @type {Node} */ one) => isHidden(one, module, depth + 1);
  switch (depth > DEEPEST ? '' : value.type) {
    case 'BinaryExpression':
      return COMPARING.test(value.operator);
    case 'Literal':
      return isBlank(value);
    case 'UnaryExpression':
      return value.operator === '!';
    case 'LogicalExpression':
      return hidden(value.left) && hidden(value.right);
    case 'ConditionalExpression':
      return hidden(value.consequent) && hidden(value.alternate);
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return hidden(value.expression);
    case 'CallExpression':
      return isTelling(value.callee, module);
    case 'Identifier': {
      const variable = module.variableOf(value);
      const init = variable && !module.isWritten(variable) ? module.initOf(variable) : undefined;
      return init ? hidden(init) : variable === null && value.name === 'undefined';
    }
    default:
      return false;
  }
}

/** Whether a function returns true or false. @param {Node} callee @param {import('../module.js').Module} module */
function isTelling(callee, module) {
  const { type, name, object, property, computed } = callee;
  if (type === 'Identifier') return module.variableOf(callee) === null && TELLING.test(name);
  if (type !== 'MemberExpression' || computed) return false;
  const isGlobal = object.type === 'Identifier' && module.variableOf(object) === null;
  const isImported = object.type === 'Identifier' && module.meaningOf(object).kind === 'import';
  return isGlobal
    ? TELLING.test(`${object.name}.${property.name}`)
    : TELLING_METHODS.has(property.name) && !isImported;
}
