/** The names that a CommonJS module exports, as far as its text writes them down. Pure. */

import { nodesOf } from '../tree.js';

/** @typedef {import('../tree.js').Node} Node */
/** @typedef {import('./exported.js').Exports} Exports */

/**
 * Return the names of a CommonJS module; null when it uses `exports` or `module` in a way whose
 * result is not written down.
 *
 * @param {Node} program
 * @returns {Exports | null}
 */
export function ofCommonJs(program) {
  const names = new Set(['__esModule']);
  /** @type {string[]} */
  const stars = [];
  /** @type {Set<Node>} mentions of `exports` and `module` that are understood */
  const understood = new Set();
  const nodes = nodesOf(program);
  for (const node of nodes) {
    if (node.type === 'AssignmentExpression' && node.operator === '=') {
      const name = memberOfExports(node.left, understood);
      if (name !== undefined) names.add(name);
      else if (isModuleExports(node.left, understood) && !takeWhole(node.right, names, stars)) {
        return null;
      }
    } else if (node.type === 'CallExpression') takeCall(node, names, stars, understood);
  }
  const isKnown = nodes.every((node) => {
    if (node.type === 'MemberExpression' && !node.computed) understood.add(node.property);
    if (node.type === 'Property' && !node.computed && !node.shorthand) understood.add(node.key);
    return !isNamed(node, /^(exports|module)$/) || understood.has(node);
  });
  return isKnown ? { names, stars, isCommonJs: true } : null;
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
  return typeof name === 'string' && isExports(object, understood) ? name : undefined;
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
 * Take over `module.exports = …`; return whether it says all names.
 *
 * @param {Node} value
 * @param {Set<string>} names
 * @param {string[]} stars
 */
function takeWhole(value, names, stars) {
  const required = requiredBy(value);
  if (required !== undefined) stars.push(required);
  if (value.type !== 'ObjectExpression') return required !== undefined;
  return value.properties.every((/** @type {Node} */ one) => {
    if (one.type !== 'Property' || one.computed) return false;
    names.add(one.key.name ?? String(one.key.value));
    return true;
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
