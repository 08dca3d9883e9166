/**
 * Which elements of JSX need scripts: those whose events, references or values React looks after.
 */

import { CLIENT, PASSING_ON } from '../allowed.js';
import { isKnownElement } from './known.js';
import { SET_HTML } from './set-html.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Meaning} Meaning */

/**
 * Attributes that React sets as a property in browsers, and not in HTML, and documents in the page,
 * whose code reaches the page.
 */
const PROPERTIES = new Set(['muted', 'ref', 'srcDoc', 'srcObject', 'srcdoc']);

/** What only the router does for a link. */
const ROUTED = new Set(['replace', 'scroll']);

/** Inputs whose `value` is what they send, and not what was typed into them. */
const SENT = new Set(['button', 'checkbox', 'hidden', 'image', 'radio', 'reset', 'submit']);

/** Inputs that `readOnly` keeps as they are; HTML has no such sliders, colours and lists of options. */
const TYPED = new Set([
  ...['date', 'datetime-local', 'email', 'month', 'number', 'password', 'search', 'tel', 'text'],
  ...['time', 'url', 'week'],
]);

/** Elements whose typed or chosen value React resets to what it was rendered with. */
const CONTROLLED = new Set(['input', 'select', 'textarea']);

/**
 * Return why an opening tag needs scripts.
 *
 * @param {Node} tag
 * @param {Meaning | undefined} meaning of its name, if that is an identifier; a component of
 *   another module of the project counts as a function
 * @returns {{ node: Node, cause: string }[]}
 */
export function elementReasons(tag, meaning) {
  const text = textOf(tag.name);
  if (isComponent(text, meaning)) {
    const html = meaning?.kind === 'import' ? attributeOf(tag, SET_HTML) : [];
    return [...attributeOf(tag, 'ref'), ...html].map(named);
  }
  if (meaning?.kind === 'import' && !CLIENT.has(meaning.name)) return []; // its import says it
  if (!isHost(text, meaning)) {
    return [{ node: tag, cause: `<${text}> is only known when it is rendered` }];
  }
  const name = meaning?.kind === 'import' ? meaning.name : text;
  const reasons = tag.attributes.flatMap((/** @type {Node} */ one) => attributeReasons(name, one));
  // Others run code, get a meaning from scripts, or are not read as they are written.
  if (!PASSING_ON.has(name) && !isKnownElement(name)) {
    reasons.push({ node: tag, cause: `<${name}>` });
  }
  return [...reasons, ...controlReasons(name, tag)];
}

/**
 * Whether a component of the project gets the attributes: what it does with them is looked at there.
 *
 * @param {string} text
 * @param {Meaning | undefined} meaning
 */
function isComponent(text, meaning) {
  if (meaning?.kind === 'function' || meaning?.kind === 'context') return true;
  if (meaning?.kind !== 'import') return false;
  const { specifier, name } = meaning;
  if (specifier === 'react') return true; // as far as it may be imported
  return specifier === 'fx/client' && CLIENT.has(name) && !PASSING_ON.has(name);
}

/**
 * @param {string} text
 * @param {Meaning | undefined} meaning
 */
function isHost(text, meaning) {
  if (meaning?.kind === 'import') return PASSING_ON.has(meaning.name);
  return meaning === undefined && /^[a-z][\w:.-]*$/.test(text) && !text.includes('.');
}

/**
 * @param {string} element
 * @param {Node} attribute
 * @returns {{ node: Node, cause: string }[]}
 */
function attributeReasons(element, attribute) {
  if (attribute.type === 'JSXSpreadAttribute') {
    return [{ node: attribute, cause: `attributes of <${element}> that are spread` }];
  }
  const name = textOf(attribute.name);
  if (/^on/i.test(name) || PROPERTIES.has(name) || name === 'is') return [named(attribute)];
  if (element === 'Link' && ROUTED.has(name)) return [named(attribute)];
  if (PASSING_ON.has(element) && name === SET_HTML) return [named(attribute)];
  const isAction = name === 'action' || name === 'formAction';
  return isAction && !isText(attribute.value) ? [named(attribute)] : [];
}

/**
 * @param {string} element
 * @param {Node} tag
 * @returns {{ node: Node, cause: string }[]}
 */
function controlReasons(element, tag) {
  if (!CONTROLLED.has(element)) return [];
  // Of two attributes with one name, the last counts.
  const isOn = (/** @type {string} */ name) => attributeOf(tag, name).at(-1)?.value === null;
  const written = attributeOf(tag, 'type').at(-1);
  const type = written === undefined ? 'text' : written.value?.value;
  const isTyped = element === 'textarea' || (element === 'input' && TYPED.has(type));
  const isFixed = isOn('disabled') || (isOn('readOnly') && isTyped);
  const isSent = element === 'input' && SENT.has(type);
  const values = isFixed || isSent ? [] : attributeOf(tag, 'value');
  return [...values, ...attributeOf(tag, 'checked')].map(named);
}

/** @param {Node} attribute @returns {{ node: Node, cause: string }} */
function named(attribute) {
  return { node: attribute, cause: textOf(attribute.name) };
}

/**
 * @param {Node} tag
 * @param {string} name
 * @returns {Node[]}
 */
function attributeOf(tag, name) {
  return tag.attributes.filter(
    (/** @type {Node} */ one) => one.type === 'JSXAttribute' && textOf(one.name) === name,
  );
}

/** @param {Node | null} value of an attribute */
function isText(value) {
  const inner = value?.type === 'JSXExpressionContainer' ? value.expression : value;
  return inner?.type === 'Literal' || inner?.type === 'TemplateLiteral';
}

/** @param {Node} name of a tag or an attribute @returns {string} */
export function textOf(name) {
  if (name.type === 'JSXMemberExpression') return `${textOf(name.object)}.${name.property.name}`;
  if (name.type === 'JSXNamespacedName') return `${name.namespace.name}:${name.name.name}`;
  return name.name;
}
