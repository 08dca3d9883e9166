/** The names that a CommonJS module exports, as far as its text writes them down. Pure. */

import { nodesOf, pushParts } from '../tree.js';

/** @typedef {import('../tree.js').Node} Node */
/** @typedef {import('./exported.js').Exports} Exports */

/** What reaches the exports of a module without naming them. */
const IMPLICIT = /^(arguments|eval)$/;

/** What has a `this` and `arguments` of its own. */
const OWN_THIS = /^(Function(Declaration|Expression)|Class(Declaration|Expression))$/;

/**
 * Return the names of a CommonJS module; null when it uses `exports`, `module` or `this` in a way
 * whose result is not written down, and when others may add names to its object.
 *
 * Such objects are common: `module.exports = { options: … }` in one module of a package, to which
 * its siblings add the rest. What a compiler made of `export` says so (`__esModule`), and is left
 * alone; a module that hands on what another one exports is as certain as that.
 *
 * @param {Node} program
 * @returns {Exports | null}
 */
export function ofCommonJs(program) {
  /** @type {Set<string>} */
  const names = new Set();
  /** @type {string[]} */
  const stars = [];
  /** @type {Set<Node>} mentions of `exports` and `module` that are understood */
  const understood = new Set();
  const nodes = nodesOf(program);
  for (const node of nodes) {
    if (node.type === 'AssignmentExpression' && node.operator === '=') {
      const name = memberOfExports(node.left, understood);
      if (name !== undefined) names.add(name);
    } else if (node.type === 'ExpressionStatement') {
      if (!takeStatement(node.expression, names, stars, understood)) return null;
    } else if (node.type === 'CallExpression') takeCall(node, names, stars, understood);
  }
  const isKnown = nodes.every((node) => {
    if (node.type === 'MemberExpression' && !node.computed) understood.add(node.property);
    if (node.type === 'Property' && !node.computed && !node.shorthand) understood.add(node.key);
    return !isNamed(node, /^(exports|module)$/) || understood.has(node);
  });
  const isClosed = marksItself(program) || (names.size === 0 && stars.length > 0);
  if (!isKnown || !isClosed || usesImplicit(program)) return null;
  return { names, stars, isCommonJs: true };
}

/**
 * Whether a statement of the module itself, not of a function in it, sets `__esModule`.
 *
 * @param {Node} program
 */
function marksItself({ body }) {
  return body.some((/** @type {Node} */ { type, expression }) => {
    if (type !== 'ExpressionStatement') return false;
    const parts = expression.type === 'SequenceExpression' ? expression.expressions : [expression];
    return parts.some((/** @type {Node} */ part) => {
      /** @type {Set<string>} */
      const names = new Set();
      if (part.type === 'AssignmentExpression') {
        names.add(memberOfExports(part.left, new Set()) ?? '');
        takeStatement(part, names, [], new Set());
      } else if (part.type === 'CallExpression') takeCall(part, names, [], new Set());
      return names.has('__esModule');
    });
  });
}

/**
 * Whether a module uses its `this`, which is `exports`, other than to read from it, its
 * `arguments`, or `eval`.
 *
 * @param {Node} program
 */
function usesImplicit(program) {
  /** @type {Set<Node>} uses of `this` that change nothing */
  const read = new Set();
  const waiting = [program];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isNamed(node, IMPLICIT)) return true;
    if (node.type === 'ThisExpression' && !read.has(node)) return true;
    if (node.type === 'AssignmentExpression' && node.left.object?.type === 'ThisExpression') {
      return true;
    }
    if (node.type === 'LogicalExpression' && node.operator === '&&') {
      read.add(node.left);
      if (node.right.type === 'MemberExpression') read.add(node.right.object);
    }
    if (!OWN_THIS.test(node.type)) pushParts(node, waiting);
  }
  return nodesOf(program).some((node) => isNamed(node, /^eval$/));
}

/**
 * @param {Node | undefined} node
 * @param {RegExp} pattern
 */
function isNamed(node, pattern) {
  return node?.type === 'Identifier' && pattern.test(node.name);
}

/**
 * Return the name of `exports.name` and `module.exports.name`.
 *
 * @param {Node} node
 * @param {Set<Node>} understood
 * @returns {string | undefined}
 */
function memberOfExports({ type, object, property, computed }, understood) {
  if (type !== 'MemberExpression') return undefined;
  const name = computed ? property.value : property.name;
  return typeof name === 'string' && name !== '__proto__' && isExports(object, understood)
    ? name
    : undefined;
}

/**
 * @param {Node} node
 * @param {Set<Node>} understood
 */
function isExports(node, understood) {
  if (!isNamed(node, /^exports$/)) return isModuleExports(node, understood);
  understood.add(node);
  return true;
}

/**
 * @param {Node} node
 * @param {Set<Node>} understood
 */
function isModuleExports(node, understood) {
  const { type, object, property, computed } = node;
  if (type !== 'MemberExpression' || computed || property.name !== 'exports') return false;
  if (!isNamed(object, /^module$/)) return false;
  understood.add(object);
  return true;
}

/**
 * Take over `module.exports = …`, where it is a whole statement: others give the object to
 * something else, too. Return whether it says all names.
 *
 * @param {Node} expression of the statement
 * @param {Set<string>} names
 * @param {string[]} stars
 * @param {Set<Node>} understood
 */
function takeStatement({ type, operator, left, right }, names, stars, understood) {
  if (type !== 'AssignmentExpression' || operator !== '=') return true;
  if (!isModuleExports(left, understood)) return true;
  const required = requiredBy(right);
  if (required !== undefined) stars.push(required);
  if (right.type !== 'ObjectExpression') return required !== undefined;
  return right.properties.every((/** @type {Node} */ one) => {
    if (one.type !== 'Property' || one.computed) return false;
    const name = one.key.name ?? String(one.key.value);
    names.add(name);
    return name !== '__proto__';
  });
}

/**
 * Take over `Object.defineProperty(exports, 'name', …)` and `__exportStar(require('…'), exports)`.
 *
 * @param {Node} call
 * @param {Set<string>} names
 * @param {string[]} stars
 * @param {Set<Node>} understood
 */
function takeCall({ callee, arguments: [first, second] }, names, stars, understood) {
  const called = callee.property?.name ?? callee.name;
  if (called === 'defineProperty' && typeof second?.value === 'string') {
    if (isExports(first, understood)) names.add(second.value);
  } else if (called === '__exportStar' && first && second) {
    const required = requiredBy(first);
    if (required !== undefined && isExports(second, understood)) stars.push(required);
  }
}

/**
 * @param {Node} node
 * @returns {string | undefined} what `require('…')` names
 */
function requiredBy(node) {
  const [value] = node.type === 'CallExpression' ? node.arguments : [];
  if (!isNamed(node.callee, /^require$/) || typeof value?.value !== 'string') return undefined;
  return value.value;
}
