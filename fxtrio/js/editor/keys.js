/** Keys of values, and what patterns take out of them. Pure. */

/**
 * @typedef {import('../check/tree.js').Node} Node
 * @typedef {string[]} Origin as `origins.js` says
 */

/**
 * @param {Origin | null} origin
 * @param {string | null} key
 * @returns {Origin | null}
 */
export function below(origin, key) {
  if (origin === null || key === null) return null;
  // What a call of an action gives has the keys of its result, and those of every answer.
  if (origin.length === 2 && origin[0] === 'action' && key === 'fields') return [...origin, 'body'];
  if (origin.length === 2 && origin[0] === 'action' && key === 'values') return [...origin, 'body'];
  return [...origin, key];
}

/**
 * Return the key that a member expression reads: '[]' for an element, null for a private name.
 *
 * @param {Node} node
 * @returns {string | null}
 */
export function keyOfMember({ computed, property }) {
  if (!computed) return property.type === 'Identifier' ? property.name : null;
  return typeof property.value === 'string' ? property.value : '[]';
}

/**
 * Return the key of a property in a pattern or object; null when only its run tells.
 *
 * @param {Node} property
 * @returns {string | null}
 */
export function keyOfProperty({ type, computed, key }) {
  if (type !== 'Property' || computed) return null;
  return String(key.name ?? key.value);
}

/**
 * Return the origin of `name`, an identifier within `pattern`, whose value has an origin.
 *
 * @param {Node | null} pattern
 * @param {Node} name
 * @param {Origin | null} origin
 * @returns {Origin | null}
 */
export function find(pattern, name, origin) {
  if (origin === null || pattern === null) return null;
  if (pattern === name) return origin;
  switch (pattern.type) {
    case 'AssignmentPattern':
      return find(pattern.left, name, origin);
    case 'RestElement':
      return find(pattern.argument, name, origin);
    case 'ObjectPattern':
      return first(pattern.properties, (/** @type {Node} */ one) =>
        one.type === 'RestElement'
          ? find(one, name, origin)
          : find(one.value, name, below(origin, keyOfProperty(one))),
      );
    case 'ArrayPattern':
      return first(pattern.elements, (one) =>
        find(one, name, one?.type === 'RestElement' ? origin : below(origin, '[]')),
      );
    default:
      return null;
  }
}

/**
 * @param {Node[]} nodes
 * @param {(node: Node) => Origin | null} look
 * @returns {Origin | null}
 */
function first(nodes, look) {
  for (const node of nodes) {
    const found = look(node);
    if (found !== null) return found;
  }
  return null;
}
