/**
 * What modules do with the UI library: whether they work the same with its ECMAScript modules as
 * with the CommonJS that is published. In doubt they do not.
 */

import { nodesOf } from '../../check/tree.js';
import { LIBRARY } from '../../worker/library.js';

/** @typedef {import('../../check/tree.js').Node} Node */

export const NAMES = [...LIBRARY.packages, ...LIBRARY.alongside].join('|');
const OF_ONE = new RegExp(`^(${NAMES})(/|$)`);

/** A text that may import one. */
export const MENTIONED = new RegExp(`["'\`](${NAMES})(/[\\w./-]+)?["'\`]`);

/** What names a type in TypeScript. */
const OF_TYPES = /^TS(QualifiedName|TypeReference|TypeQuery)$/;

/** Names that objects have and modules do not, or the other way round. */
const OF_OBJECTS = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'default',
  '__esModule',
]);

/**
 * Return whether a module only reads, by their names, things that the library exports.
 *
 * @param {Node} program
 * @param {(specifier: string) => Promise<Set<string> | null>} exportsOf what a module of the library
 *   exports; null for any name
 */
export async function onlyReads(program, exportsOf) {
  const nodes = nodesOf(program);
  const parents = parentsOf(nodes);
  /** @type {Node[]} */
  const variables = [];
  for (const node of nodes) {
    const source = sourceOf(node);
    if (typeof source !== 'string' || !OF_ONE.test(source)) continue;
    if (node.importKind === 'type' || node.exportKind === 'type') continue;
    const { named, whole } = takenBy(node, parents);
    if (whole === null) return false;
    variables.push(...whole);
    const known = named.length > 0 ? await exportsOf(source) : null;
    if (known !== null && named.some((name) => !known.has(name))) return false;
  }
  const names = new Set(variables.map(({ name }) => name));
  const others = nodes.filter(
    (node) => node.type === 'Identifier' && names.has(node.name) && !variables.includes(node),
  );
  return others.every((node) => isName(node, parents) || isRead(node, parents));
}

/**
 * @param {Node[]} nodes
 * @returns {Map<Node, Node>}
 */
function parentsOf(nodes) {
  const parents = new Map();
  for (const node of nodes) {
    for (const part of Object.values(node).flat()) {
      if (typeof part?.type === 'string') parents.set(part, node);
    }
  }
  return parents;
}

/**
 * Return what a node imports from; undefined for other nodes.
 *
 * @param {Node} node
 * @returns {string | undefined}
 */
function sourceOf(node) {
  const isRequire = node.type === 'CallExpression' && node.callee.name === 'require';
  const source = isRequire ? node.arguments[0] : node.source;
  return source?.type === 'TemplateLiteral' ? source.quasis[0].value.cooked : source?.value;
}

/**
 * Return what an import takes from its module: names, and the variables that are the whole of it;
 * null for a whole that goes anywhere else.
 *
 * @param {Node} node
 * @param {Map<Node, Node>} parents
 * @returns {{ named: string[], whole: Node[] | null }}
 */
function takenBy(node, parents) {
  /** @type {string[]} */
  const named = [];
  const whole = [];
  switch (node.type) {
    case 'CallExpression': {
      const parent = parents.get(node);
      const isVariable = parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier';
      if (isVariable) return { named, whole: [parent.id] };
      const isPlain = parent?.type === 'ExpressionStatement' || isRead(node, parents);
      return { named, whole: isPlain ? [] : null };
    }
    case 'ExportAllDeclaration':
      return { named, whole: node.exported === null ? [] : null };
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
      break;
    default:
      return { named, whole: null };
  }
  for (const one of node.specifiers) {
    const taken = one.type === 'ExportSpecifier' ? one.local : one.imported;
    const name = taken === undefined ? 'default' : (taken.name ?? taken.value);
    if (name !== 'default') named.push(name);
    else if (one.type === 'ExportSpecifier') return { named, whole: null };
    else whole.push(one.local);
  }
  return { named, whole };
}

/**
 * Return whether an identifier is the name of a member, not a variable.
 *
 * @param {Node} node
 * @param {Map<Node, Node>} parents
 */
function isName(node, parents) {
  const parent = parents.get(node);
  if (parent === undefined || parent.computed || parent.shorthand) return false;
  return parent.type === 'MemberExpression' ? parent.property === node : parent.key === node;
}

/**
 * Return whether of a whole library only a member is read.
 *
 * @param {Node} node
 * @param {Map<Node, Node>} parents
 */
function isRead(node, parents) {
  const parent = parents.get(node);
  if (OF_TYPES.test(parent?.type ?? '')) return true;
  if (parent?.type === 'VariableDeclarator') {
    return parent.init === node && parent.id.type === 'ObjectPattern' && areRead(parent.id);
  }
  if (parent?.type !== 'MemberExpression' || parent.object !== node) return false;
  const { property, computed } = parent;
  if (OF_OBJECTS.has(computed ? property.value : property.name)) return false;
  return !isWritten(parent, parents);
}

/** @param {Node} pattern */
function areRead(pattern) {
  return pattern.properties.every(
    (/** @type {Node} */ one) =>
      one.type === 'Property' && !one.computed && !OF_OBJECTS.has(one.key.name ?? one.key.value),
  );
}

/**
 * @param {Node} node a member
 * @param {Map<Node, Node>} parents
 */
function isWritten(node, parents) {
  const parent = /** @type {Node} */ (parents.get(node));
  switch (parent.type) {
    case 'AssignmentExpression':
    case 'AssignmentPattern':
    case 'ForInStatement':
    case 'ForOfStatement':
      return parent.left === node;
    case 'UpdateExpression':
    case 'RestElement':
    case 'ArrayPattern':
      return true;
    case 'UnaryExpression':
      return parent.operator === 'delete';
    case 'ChainExpression':
      return isWritten(parent, parents);
    case 'Property':
      return parent.value === node && parents.get(parent)?.type === 'ObjectPattern';
    default:
      return false;
  }
}
