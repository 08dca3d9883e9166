/** Components that pass all their properties on as a value, so that their children may be read anywhere. */

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('./sources.js').Place} Place */
/** @typedef {import('./sources.js').Sources} Sources */

/**
 * Return the functions of these components and layouts.
 *
 * @param {Sources} sources
 * @returns {Set<Node>}
 */
export function leakingIn(sources) {
  const layouts = [...sources.modules.keys()].map((file) => sources.exportOf(file, 'default'));
  const found = [...sources.components, ...layouts].flatMap(
    (place) => (place && sources.functionOf(place)) ?? [],
  );
  const leaking = found.filter(({ file, node }) =>
    node.params.some((/** @type {Node} */ one) => isLeaked(sources, file, one)),
  );
  return new Set(leaking.map(({ node }) => node));
}

/**
 * Whether all that a pattern binds, or all the rest, is used as a value.
 *
 * @param {Sources} sources
 * @param {string} file
 * @param {Node} pattern
 * @returns {boolean}
 */
function isLeaked(sources, file, pattern) {
  const isInner = (/** @type {Node} */ one) => isLeaked(sources, file, one);
  switch (pattern.type) {
    case 'AssignmentPattern':
      return isInner(pattern.left);
    case 'RestElement':
      return isInner(pattern.argument);
    case 'ObjectPattern':
      return pattern.properties
        .filter((/** @type {Node} */ { type }) => type === 'RestElement')
        .some(isInner);
    case 'Identifier':
      break;
    default:
      return true;
  }
  const references = sources.moduleOf(file).variableOf(pattern)?.references ?? [];
  return references.some((/** @type {any} */ { identifier }) => {
    const parent = sources.parentOf({ file, node: identifier });
    if (identifier === pattern || parent?.type === 'JSXSpreadAttribute') return false;
    if (parent?.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern') {
      return isInner(parent.id);
    }
    return parent?.type !== 'MemberExpression' || parent.object !== identifier;
  });
}
