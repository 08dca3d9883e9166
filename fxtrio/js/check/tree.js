/** Walks a syntax tree (ESTree, as the bundler's parser makes it). Pure. */

/** @typedef {{ type: string, start: number, end: number, [key: string]: any }} Node */

/**
 * The nodes of programs that were walked. A file is walked for each kind of mistake, and finding
 * the nodes takes ten times as long as looking at them.
 *
 * @type {WeakMap<Node, Node[]>}
 */
const nodesOfPrograms = new WeakMap();

/**
 * Call `visit` for a node and all below it, a node before what it holds. `visit` does not add or
 * remove nodes.
 *
 * @param {Node} root
 * @param {(node: Node) => void} visit
 */
export function walk(root, visit) {
  nodesOf(root).forEach(visit);
}

/**
 * Return a node and all below it, a node before what it holds.
 *
 * @param {Node} root
 * @returns {Node[]}
 */
export function nodesOf(root) {
  const known = nodesOfPrograms.get(root);
  if (known !== undefined) return known;
  /** @type {Node[]} */
  const nodes = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    nodes.push(node);
    pushParts(node, waiting);
  }
  if (root.type === 'Program') nodesOfPrograms.set(root, nodes);
  return nodes;
}

/**
 * Append the nodes that a node holds.
 *
 * @param {Node} node
 * @param {Node[]} parts
 */
export function pushParts(node, parts) {
  for (const key in node) {
    const value = node[key];
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      if (typeof value.type === 'string') parts.push(value);
      continue;
    }
    for (const part of value) if (typeof part?.type === 'string') parts.push(part);
  }
}

/**
 * Return the names that a declaration or a pattern binds.
 *
 * @param {Node | null} node
 * @returns {string[]}
 */
export function boundNames(node) {
  switch (node?.type) {
    case 'Identifier':
      return [node.name];
    case 'VariableDeclaration':
      return node.declarations.flatMap((/** @type {Node} */ one) => boundNames(one.id));
    case 'ObjectPattern':
      return node.properties.flatMap((/** @type {Node} */ one) => boundNames(one.value ?? one));
    case 'ArrayPattern':
      return node.elements.flatMap(boundNames);
    case 'AssignmentPattern':
      return boundNames(node.left);
    case 'RestElement':
      return boundNames(node.argument);
    default:
      return node?.id === undefined || node.id === null ? [] : boundNames(node.id);
  }
}
