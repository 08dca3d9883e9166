/** Where the UI half of a file speaks of what its Python half and other files define. Pure. */

import { below, keyOfMember, keyOfProperty } from './keys.js';

/**
 * @typedef {import('../check/tree.js').Node} Node
 * @typedef {import('./keys.js').Origin} Origin
 * @typedef {import('./origins.js').Origins} Origins
 */

/**
 * A place that names something. `start` and `end` are offsets in UTF-16 units, without quotes.
 *
 * @typedef {object} Use
 * @property {'key' | 'variable' | 'action' | 'link'} kind a variable is one that holds a key
 * @property {number} start
 * @property {number} end
 * @property {Origin} [origin] of a key, which it ends with, or of a variable
 * @property {boolean} [shorthand] whether the key is also the name of a variable: `{ posts }`
 * @property {string} [name] of an action
 * @property {string} [page] path of the page whose action it is; the own one without
 * @property {string} [href] of a link: text with `{}` for what only its run tells
 */

/** Functions of `fx/client` whose first argument is a path of the app. */
const GOES = new Set(['navigate', 'prefetch', 'invalidate', 'useLoader']);

/**
 * Return the uses in a file, by place.
 *
 * @param {Origins} origins those of its expressions
 * @param {Node[]} nodes which of its nodes are looked at, each with all that it holds
 * @returns {Use[]}
 */
export function usesOf(origins, nodes = origins.tree.nodes) {
  /** @type {Use[]} */
  const uses = [];
  nodes.forEach((node) => {
    switch (node.type) {
      case 'MemberExpression':
        uses.push(...memberUses(node, origins));
        break;
      case 'JSXOpeningElement':
        uses.push(...elementUses(node, origins));
        break;
      case 'CallExpression':
        uses.push(...callUses(node, origins));
        break;
      case 'VariableDeclarator':
        uses.push(...patternUses(node.id, originOfPattern(node, origins)));
        break;
      default:
        (node.params ?? []).forEach((/** @type {Node} */ one, /** @type {number} */ index) => {
          if (one.type.startsWith('TS')) return;
          uses.push(
            ...patternUses(one, origins.settled(origins.ofParameter(node, index)), origins),
          );
        });
    }
  });
  const keys = new Set(uses.map(({ start }) => start));
  for (const node of nodes) {
    if (!origins.variables.has(node)) continue;
    const origin = keys.has(node.start) ? null : origins.of(node);
    if (origin !== null) uses.push({ kind: 'variable', origin, ...textOf(node) });
  }
  return uses.sort((one, other) => one.start - other.start);
}

/**
 * @param {Node} declarator
 * @param {Origins} origins
 * @returns {Origin | null}
 */
function originOfPattern(declarator, origins) {
  const loop = origins.parents.get(/** @type {Node} */ (origins.parents.get(declarator)));
  if (loop?.type === 'ForOfStatement') return below(origins.of(loop.right), '[]');
  return origins.of(declarator.init);
}

/**
 * @param {Node} node
 * @param {Origins} origins
 * @returns {Use[]}
 */
function memberUses(node, origins) {
  const key = keyOfMember(node);
  if (key === null || key === '[]') return [];
  const origin = origins.settled(below(origins.of(node.object), key));
  return origin?.at(-1) === key ? [keyUse(node.property, origin)] : [];
}

/**
 * @param {Node} node
 * @param {Origin} origin
 * @param {boolean} [shorthand]
 * @returns {Use}
 */
function keyUse(node, origin, shorthand = false) {
  return { kind: 'key', origin, shorthand, ...textOf(node) };
}

/** @param {Node} node */
function textOf({ type, start, end, value }) {
  const quote = type === 'Literal' && typeof value === 'string' ? 1 : 0;
  return { start: start + quote, end: end - quote };
}

/**
 * Return the keys that a pattern takes out of a value.
 *
 * @param {Node | null} pattern
 * @param {Origin | null} origin of the value
 * @param {Origins} [origins]
 * @returns {Use[]}
 */
function patternUses(pattern, origin, origins) {
  if (pattern === null || origin === null) return [];
  switch (pattern.type) {
    case 'AssignmentPattern':
      return patternUses(pattern.left, origin, origins);
    case 'ArrayPattern':
      return pattern.elements.flatMap((/** @type {Node | null} */ one) =>
        patternUses(one, below(origin, '[]'), origins),
      );
    case 'ObjectPattern':
      return pattern.properties.flatMap((/** @type {Node} */ one) => {
        const key = keyOfProperty(one);
        const found = below(origin, key);
        const settled = origins === undefined ? found : origins.settled(found);
        if (settled === null) return [];
        return [
          ...(settled.at(-1) === key ? [keyUse(one.key, settled, one.shorthand)] : []),
          ...patternUses(one.value, settled, origins),
        ];
      });
    default:
      return [];
  }
}

/**
 * @param {Node} opening
 * @param {Origins} origins
 * @returns {Use[]}
 */
function elementUses(opening, origins) {
  const component = origins.imported.get(opening.name.name);
  const named = new Map(
    opening.attributes.map((/** @type {Node} */ one) => [one.name?.name, one.value]),
  );
  if (component === 'Link' || opening.name.name === 'a') return linkUses(named.get('href'));
  if (component === 'Form') {
    if (/^get$/i.test(named.get('method')?.value ?? '')) return linkUses(named.get('action'));
    const page = named.get('page')?.value;
    return [...linkUses(named.get('page')), ...actionUses(named.get('action'), page)];
  }
  const form = ['input', 'textarea', 'select'].includes(opening.name.name)
    ? formAround(opening, origins)
    : null;
  const name = named.get('name');
  if (form === null || name?.type !== 'Literal') return [];
  // A name such as `items.0.price` is a path of several keys.
  return /^\w+$/.test(name.value) ? [keyUse(name, [...form, 'body', name.value])] : [];
}

/**
 * @param {Node} opening
 * @param {Origins} origins
 * @returns {Origin | null}
 */
function formAround(opening, origins) {
  let node = origins.parents.get(opening);
  for (; node !== undefined; node = origins.parents.get(node)) {
    const action = node.type === 'JSXElement' ? origins.actionOfForm(node.openingElement) : null;
    if (action !== null) return action;
  }
  return null;
}

/**
 * @param {Node} call
 * @param {Origins} origins
 * @returns {Use[]}
 */
function callUses({ callee, arguments: args }, origins) {
  const name = origins.imported.get(callee.name) ?? '';
  if (GOES.has(name)) return linkUses(args[0]);
  if (name === 'useAction') {
    const page = args[1]?.properties?.find((/** @type {Node} */ one) => one.key?.name === 'page');
    return [...linkUses(page?.value), ...actionUses(args[0], page?.value?.value)];
  }
  const action = callee.type === 'Identifier' ? origins.of(callee) : null;
  if (action?.length !== 2 || action[0] !== 'action') return [];
  if (args[0]?.type !== 'ObjectExpression') return [];
  return args[0].properties.flatMap((/** @type {Node} */ one) => {
    const key = keyOfProperty(one);
    return key === null ? [] : [keyUse(one.key, [...action, 'body', key], one.shorthand)];
  });
}

/**
 * @param {Node | null | undefined} node
 * @param {string | undefined} page
 * @returns {Use[]}
 */
function actionUses(node, page) {
  const literal = node?.type === 'JSXExpressionContainer' ? node.expression : node;
  if (literal?.type !== 'Literal' || typeof literal.value !== 'string') return [];
  return [{ kind: 'action', name: literal.value, page, ...textOf(literal) }];
}

/**
 * @param {Node | null | undefined} node
 * @returns {Use[]}
 */
function linkUses(node) {
  const text = node?.type === 'JSXExpressionContainer' ? node.expression : node;
  if (text?.type === 'Literal' && typeof text.value === 'string') {
    return [{ kind: 'link', href: text.value, ...textOf(text) }];
  }
  if (text?.type !== 'TemplateLiteral') return [];
  const href = text.quasis.map((/** @type {Node} */ one) => one.value.cooked ?? '').join('{}');
  return [{ kind: 'link', href, start: text.start + 1, end: text.end - 1 }];
}
