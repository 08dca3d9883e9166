/**
 * Code that can read the component out of the element of an island.
 *
 * A page that shows such a component outside of its island needs the scripts of it. All ways lead
 * through the properties of an element: `children.props.children`.
 */

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../code.js').Reason} Reason */

/** What returns the values of an object whose keys nobody has written down. */
const VALUES = new Set(['entries', 'values']);

/**
 * Return why a node needs scripts on pages with islands.
 *
 * @param {Node} node
 * @param {Node | null} parent
 * @returns {Reason[]}
 */
export function partsOfIslands(node, parent) {
  const read = readOf(node, parent);
  if (read === undefined) return [];
  return [{ node, cause: `${read}, which could take an <Island> apart`, ofIslands: true }];
}

/**
 * Return what may read the properties of an element.
 *
 * @param {Node} node
 * @param {Node | null} parent
 * @returns {string | undefined}
 */
function readOf(node, parent) {
  if (node.type === 'Property') {
    return parent?.type === 'ObjectPattern' && isProps(node.key) ? "'props'" : undefined;
  }
  if (node.type !== 'MemberExpression') return undefined;
  const { object, property } = node;
  if (isProps(property)) return "'props'";
  if (object.type !== 'Identifier') return undefined;
  if (object.name === 'Object' && VALUES.has(property.name)) return `Object.${property.name}`;
  const isText = object.name === 'JSON' && property.name === 'stringify';
  return isText && !hasOneArgument(node, parent) ? 'JSON.stringify with a function' : undefined;
}

/** @param {Node} key a name, or a text in brackets */
function isProps({ name, value }) {
  return name === 'props' || value === 'props';
}

/**
 * Whether a function is called with one argument, and not passed on.
 *
 * @param {Node} callee
 * @param {Node | null} parent
 */
function hasOneArgument(callee, parent) {
  if (parent?.type !== 'CallExpression' || parent.callee !== callee) return false;
  return parent.arguments.length === 1 && parent.arguments[0].type !== 'SpreadElement';
}
