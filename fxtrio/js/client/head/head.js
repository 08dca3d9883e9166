/**
 * Head elements of all levels in, merged elements and their HTML out. Pure.
 *
 * Used by the SSR bundle and, after a navigation, by the browser; cases in
 * tests/wire/head.json. A node is `[tag, attributes, text]`.
 */

import { MARK } from './tags.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/** What a title of a layout makes of those inside of it: `%s` stands for their text. */
const TEMPLATE = 'data-template';

const VOID = new Set(['base', 'link', 'meta']);

/** Elements of which a head has only the attributes, for those of the document. */
const ROOTS = new Set(['body', 'html']);

const NAME = /^[a-z_][a-z0-9_.:-]*$/i;
const CHARACTERS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Bring the levels into order: layout `HEAD`, layout `<Head>`, …, page `HEAD`, page `<Head>`.
 *
 * @param {readonly HeadNode[][]} values the `HEAD` of each level, outermost first
 * @param {readonly HeadNode[][]} elements the `<Head>` elements of each level; may have holes
 * @returns {HeadNode[][]}
 */
export function interleave(values, elements) {
  const levels = [];
  for (let level = 0; level < Math.max(values.length, elements.length); level += 1) {
    levels.push(values[level] ?? [], elements[level] ?? []);
  }
  return levels;
}

/**
 * Merge levels, the least important first: of nodes that mean the same the last wins, at the
 * place of the first. Of `html` and `body` each attribute is merged by itself, and a title takes
 * the template of the levels before its own.
 *
 * @param {readonly (readonly HeadNode[])[]} levels
 * @returns {HeadNode[]}
 */
export function mergeHead(levels) {
  /** @type {Map<string, HeadNode>} */
  const merged = new Map();
  let template = '';
  for (const nodes of levels) {
    let inner = template;
    for (const node of nodes) {
      const key = identity(node);
      if (node[0] === 'title' && node[1][TEMPLATE] !== undefined) inner = node[1][TEMPLATE];
      if (node[0] === 'title') setTitle(merged, key, node, template);
      else merged.set(key, ROOTS.has(key) ? both(merged.get(key), node) : node);
    }
    template = inner;
  }
  return [...merged.values()];
}

/**
 * @param {Map<string, HeadNode>} merged
 * @param {string} key
 * @param {HeadNode} title with a template of its own it stands as it is, and without text not at
 *   all
 * @param {string} template of the levels around it, "" for none
 */
function setTitle(merged, key, [tag, attributes, text], template) {
  const { [TEMPLATE]: own, ...others } = attributes;
  if (own !== undefined && text === '') return;
  const whole = own === undefined && template ? template.replaceAll('%s', () => text) : text;
  merged.set(key, [tag, others, whole]);
}

/**
 * @param {HeadNode | undefined} before
 * @param {HeadNode} after
 * @returns {HeadNode}
 */
function both(before, [tag, attributes]) {
  return [tag, { ...before?.[1], ...attributes }, ''];
}

/**
 * Return nodes without titles: a `<title>` that React itself puts into the head replaces them.
 *
 * @param {readonly HeadNode[]} nodes
 */
export function withoutTitles(nodes) {
  return nodes.filter(([tag]) => tag !== 'title');
}

/**
 * Return what a node is about. Nodes of which only one can hold are equal in it.
 *
 * @param {HeadNode} node
 * @returns {string}
 */
export function identity([tag, attributes, text]) {
  if (ROOTS.has(tag)) return tag;
  const own = attributes['data-head-key'];
  if (own !== undefined) return `key ${own}`;
  if (tag === 'title' || tag === 'base') return tag;
  if (tag === 'meta') {
    const media = attributes.media ? ` ${attributes.media}` : '';
    if (attributes.charset !== undefined) return 'meta charset';
    for (const name of ['name', 'property', 'http-equiv']) {
      const value = attributes[name];
      if (value !== undefined) return `meta ${name} ${value.toLowerCase()}${media}`;
    }
  }
  if (tag === 'link' && /(^|\s)canonical(\s|$)/i.test(attributes.rel ?? '')) return 'canonical';
  const sorted = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([tag, sorted, text]);
}

/**
 * Divide nodes into those of `html` and `body`, and those inside of the head.
 *
 * @param {readonly HeadNode[]} nodes merged
 * @returns {{ roots: HeadNode[], inner: HeadNode[] }}
 */
export function divideHead(nodes) {
  /** @type {{ roots: HeadNode[], inner: HeadNode[] }} */
  const divided = { roots: [], inner: [] };
  for (const node of nodes) (ROOTS.has(node[0]) ? divided.roots : divided.inner).push(node);
  return divided;
}

/**
 * Write nodes as HTML: first the start tags of `html` and `body`, if there are any, for whoever
 * writes the document (docs/wire.md, "Frames").
 *
 * @param {readonly HeadNode[]} nodes
 * @param {string} [nonce] for scripts and styles; "" without a policy
 * @returns {string}
 */
export function serializeHead(nodes, nonce = '') {
  const { roots, inner } = divideHead(nodes);
  let html = roots.map(startTag).join('');
  for (const [tag, attributes, text] of inner) {
    html += `<${tag} ${MARK}=""`;
    if (nonce && (tag === 'script' || tag === 'style')) html += ` nonce="${escapeText(nonce)}"`;
    html += writeAttributes(attributes);
    html += VOID.has(tag) ? '>' : `>${content(tag, attributes, text)}</${tag}>`;
  }
  return html;
}

/** @param {HeadNode} node */
function startTag([tag, attributes]) {
  const names = Object.keys(attributes).filter((name) => NAME.test(name));
  if (names.length === 0) return '';
  return `<${tag} ${MARK}="${escapeText(names.join(' '))}"${writeAttributes(attributes)}>`;
}

/** @param {Record<string, string>} attributes */
function writeAttributes(attributes) {
  let html = '';
  for (const name of Object.keys(attributes)) {
    if (NAME.test(name)) html += ` ${name}="${escapeText(attributes[name])}"`;
  }
  return html;
}

/**
 * Escape text for HTML, in content and in quoted attributes.
 *
 * @param {string} text
 * @returns {string}
 */
export function escapeText(text) {
  return text.replace(/[&<>"]/g, (character) => CHARACTERS[/** @type {'&'} */ (character)]);
}

/**
 * Return the text of an element so that nothing in it ends the element.
 *
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {string} text
 */
export function content(tag, attributes, text) {
  if (tag === 'title') return escapeText(text);
  if (tag === 'script' && /json$/i.test(attributes.type ?? '')) {
    return text.replaceAll('<', '\\u003c');
  }
  if (tag === 'script') return text.replace(/<(?=\/script|!--)/gi, '\\x3c');
  if (tag === 'style') return text.replace(/<(?=\/style)/gi, '\\3c ');
  return text.replace(/<(?=\/noscript)/gi, '&lt;');
}
