/** The children of `<Head>` in, head nodes out. Pure. */

import { Children, Fragment, isValidElement } from 'react';

import { HEAD_TAGS } from './tags.js';
import { escapeText } from './head.js';
import { isScript } from './script-urls.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */
/** @typedef {import('react').ReactNode} ReactNode */

const IN_NOSCRIPT = new Set(['link', 'meta', 'style', 'img', 'iframe']);

/** Attributes whose React name is not the HTML name in other letters. */
const NAMES = new Map([
  ['className', 'class'],
  ['httpEquiv', 'http-equiv'],
]);

const NOT_ATTRIBUTES = new Set(['children', 'dangerouslySetInnerHTML', 'key', 'ref', 'nonce']);

/**
 * Return the nodes of the children of a `<Head>`.
 *
 * @param {ReactNode} children
 * @returns {HeadNode[]}
 * @throws {TypeError} when a child is neither an element of a document's head nor a fragment
 */
export function headNodes(children) {
  /** @type {HeadNode[]} */
  const nodes = [];
  collect(children, nodes);
  return nodes;
}

/**
 * @param {ReactNode} children
 * @param {HeadNode[]} nodes
 */
function collect(children, nodes) {
  Children.forEach(children, (child) => {
    if (child === null || child === undefined || typeof child === 'boolean') return;
    if (typeof child === 'string' && child.trim() === '') return;
    if (!isValidElement(child)) throw refusal(`the text ${JSON.stringify(String(child))}`);
    const { type, props } = /** @type {import('react').ReactElement<any>} */ (child);
    if (type === Fragment) collect(props.children, nodes);
    else if (typeof type === 'string' && HEAD_TAGS.has(type)) nodes.push(node(type, props));
    else throw refusal(typeof type === 'string' ? `<${type}>` : `the component ${nameOf(type)}`);
  });
}

/**
 * @param {string} tag
 * @param {any} props
 * @returns {HeadNode}
 */
function node(tag, props) {
  const inner = props.dangerouslySetInnerHTML?.__html;
  const attributes = attributesOf(props);
  if (tag === 'html' || tag === 'body') return [tag, attributes, ''];
  if (tag === 'noscript') return [tag, attributes, inner ?? noscript(props.children)];
  return [tag, attributes, inner === undefined ? textOf(props.children) : String(inner)];
}

/**
 * @param {any} props
 * @returns {Record<string, string>}
 */
function attributesOf(props) {
  /** @type {Record<string, string>} */
  const attributes = {};
  for (const [name, value] of Object.entries(props)) {
    if (NOT_ATTRIBUTES.has(name) || value === null || value === undefined || value === false) {
      continue;
    }
    if (/^on/i.test(name) || typeof value === 'function' || typeof value === 'symbol') continue;
    const written = name.startsWith('data-') || name.startsWith('aria-') ? name : plainName(name);
    attributes[written] = value === true ? '' : String(value);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (isScript(name, value, 'http-equiv' in attributes)) delete attributes[name];
  }
  return attributes;
}

/** @param {string} name */
function plainName(name) {
  return NAMES.get(name) ?? name.toLowerCase();
}

/**
 * @param {ReactNode} children
 * @returns {string}
 */
function textOf(children) {
  let text = '';
  Children.forEach(children, (child) => {
    if (typeof child === 'string' || typeof child === 'number' || typeof child === 'bigint') {
      text += child;
    } else if (isValidElement(child) && child.type === Fragment) {
      text += textOf(/** @type {any} */ (child.props).children);
    } else if (isValidElement(child)) {
      throw refusal(`an element inside of a <title>, <style> or <script>`);
    }
  });
  return text;
}

/**
 * @param {ReactNode} children
 * @returns {string} HTML
 */
function noscript(children) {
  let html = '';
  Children.forEach(children, (child) => {
    if (!isValidElement(child)) return;
    const { type, props } = /** @type {import('react').ReactElement<any>} */ (child);
    if (type === Fragment) {
      html += noscript(props.children);
      return;
    }
    if (typeof type !== 'string' || !IN_NOSCRIPT.has(type)) {
      throw refusal(`${nameOf(type)} inside of a <noscript>`);
    }
    const attributes = Object.entries(attributesOf(props));
    html += `<${type}${attributes.map(([name, value]) => ` ${name}="${escapeText(value)}"`).join('')}>`;
    if (type === 'style') html += `${textOf(props.children)}</style>`;
    if (type === 'iframe') html += '</iframe>';
  });
  return html;
}

/** @param {any} type */
function nameOf(type) {
  return typeof type === 'string' ? `<${type}>` : type?.displayName || type?.name || 'unknown';
}

/** @param {string} what */
function refusal(what) {
  const allowed = [...HEAD_TAGS].map((tag) => `<${tag}>`).join(', ');
  return new TypeError(`<Head>: ${what} cannot be in it. It may contain ${allowed}.`);
}
