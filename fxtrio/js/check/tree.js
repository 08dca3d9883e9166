/** Walks a syntax tree (ESTree, as the bundler's parser makes it). Pure. */

/** @typedef {{ type: string, start: number, end: number, [key: string]: any }} Node */

/**
 * Call `visit` for a node and all below it, a node before what it holds.
 *
 * @param {Node} root
 * @param {(node: Node) => void} visit
 */
export function walk(root, visit) {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    visit(node);
    for (const value of Object.values(node)) {
      for (const part of Array.isArray(value) ? value : [value]) {
        if (typeof part?.type === 'string') waiting.push(part);
      }
    }
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
