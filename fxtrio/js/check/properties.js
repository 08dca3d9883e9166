/** Properties that components and functions of `fx/client` do not have. Pure. */

import { attributesOf } from './attributes.js';
import { PROPERTIES } from './pyxle.js';
import { similar } from './similar.js';
import { walk } from './tree.js';
import { importedNames } from './usage.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {import('./imports/specifiers.js').Mistake} Mistake */
/** @typedef {import('./signatures.js').Shape} Shape */
/** @typedef {import('./signatures.js').Signature} Signature */

/** Names that other frameworks and HTML have. @type {Record<string, string>} */
const ELSEWHERE = { class: 'className', for: 'htmlFor' };

/**
 * Return the unknown properties of components, options of functions, and parts of what hooks
 * return, by place.
 *
 * @param {Node} program
 * @param {Map<string, Signature>} signatures of `fx/client`
 * @returns {Mistake[]}
 */
export function propertyMistakes(program, signatures) {
  const locals = importedNames(program);
  /** @type {Mistake[]} */
  const found = [];
  walk(program, (node) => {
    if (node.type === 'JSXOpeningElement') {
      const name = locals.get(node.name.name) ?? '';
      found.push(...unknownProperties(name, node, signatures.get(name)?.takes[0] ?? null));
    } else if (node.type === 'CallExpression') {
      const name = locals.get(node.callee.name) ?? '';
      const takes = signatures.get(name)?.takes ?? [];
      takes.forEach((shape, index) => {
        const keys = keysOf(node.arguments[index], 'ObjectExpression');
        found.push(...unknownKeys(keys, shape, name, `${name}() has no option`));
      });
    } else if (node.type === 'VariableDeclarator' && node.init?.type === 'CallExpression') {
      const name = locals.get(node.init.callee.name) ?? '';
      const shape = signatures.get(name)?.gives ?? null;
      const keys = keysOf(node.id, 'ObjectPattern');
      found.push(...unknownKeys(keys, shape, name, `${name}() returns no`));
    }
  });
  return found.sort((one, other) => one.offset - other.offset);
}

/**
 * @param {string} component
 * @param {Node} element
 * @param {Shape} shape
 * @returns {Mistake[]}
 */
function unknownProperties(component, { attributes }, shape) {
  const keys = attributes
    .filter((/** @type {Node} */ one) => one.name?.type === 'JSXIdentifier')
    .map((/** @type {Node} */ one) => ({ name: one.name.name, offset: one.start }));
  return unknownKeys(keys, shape, component, `<${component}> has no property`);
}

/**
 * Return the plain keys of an object or pattern.
 *
 * @param {Node | undefined} node
 * @param {string} type
 * @returns {{ name: string, offset: number }[]}
 */
function keysOf(node, type) {
  if (node?.type !== type) return [];
  return node.properties
    .filter((/** @type {Node} */ one) => one.type === 'Property' && !one.computed)
    .map((/** @type {Node} */ { key }) => ({ name: key.name ?? key.value, offset: key.start }));
}

/**
 * @param {{ name: string, offset: number }[]} keys
 * @param {Shape} shape
 * @param {string} owner
 * @param {string} message in front of the name
 * @returns {Mistake[]}
 */
function unknownKeys(keys, shape, owner, message) {
  if (shape === null) return [];
  const { names, element } = shape;
  const attributes = element === null ? ['key'] : attributesOf(element);
  return keys
    .filter(({ name }) => !names.includes(name) && !attributes.includes(name))
    .filter(({ name }) => element === null || !isPassedOn(name, names))
    .filter(({ name }) => owner !== 'Link' || name !== 'to') // told as a missing `href`
    .map(({ name, offset }) => ({
      offset,
      message: `${message} '${name}'`,
      remedy: remedyFor(name, owner, names, attributes),
      certain: false,
    }));
}

/**
 * Whether an attribute of this name may be meant for the element.
 *
 * @param {string} name
 * @param {string[]} own
 */
function isPassedOn(name, own) {
  const event = /^on[A-Z]/;
  if (!event.test(name)) return name.includes('-');
  return (
    similar(
      name,
      own.filter((one) => event.test(one)),
    ) === undefined
  );
}

/**
 * @param {string} name
 * @param {string} owner
 * @param {string[]} names
 * @param {string[]} attributes
 */
function remedyFor(name, owner, names, attributes) {
  const own = Object.hasOwn(PROPERTIES, owner) ? PROPERTIES[owner] : {};
  const known = [own, ELSEWHERE].find((one) => Object.hasOwn(one, name))?.[name];
  if (known !== undefined) return /^[A-Z]/.test(known) ? known : `Write '${known}'`;
  const near = similar(name, [...names, ...attributes]);
  if (near !== undefined) return `Did you mean '${near}'?`;
  return names.length > 0 ? `There is ${names.join(', ')}` : 'It has none';
}
