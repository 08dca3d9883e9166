/** Head nodes written into a document: only what differs changes, and only what is marked. */

import { BASED } from '../view/base/based.js';
import { content, withoutTitles } from './head.js';
import { MARK } from './tags.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/** @type {ReadonlySet<HeadNode>} */
const NONE = new Set();
/** @type {WeakMap<Element, string | null>} the text of each title that is ours */
const TITLES = new WeakMap();
const VIEWPORT = 'width=device-width, initial-scale=1';

/**
 * Make the marked elements of the document's head those of `nodes`, in their order.
 *
 * Elements that stay are not touched, so no script runs twice and no stylesheet flickers.
 *
 * @param {Document} document
 * @param {readonly HeadNode[]} nodes
 * @param {object} [options]
 * @param {string} [options.nonce]
 * @param {ReadonlySet<HeadNode>} [options.untrusted] nodes that a payload has sent: their scripts
 *   get no nonce
 * @param {boolean} [options.remove] false while components may still be to come
 */
export function applyHead(document, nodes, { nonce = '', untrusted = NONE, remove = true } = {}) {
  const { head } = document;
  releaseTitles(head);
  const titled = head.querySelector(`title:not([${MARK}])`) !== null;
  const applied = titled ? withoutTitles(nodes) : nodes;
  /** @type {Map<string, Element[]>} */
  const present = new Map();
  for (const element of head.querySelectorAll(`[${MARK}]`)) {
    const key = signature(nodeOf(element));
    present.set(key, [...(present.get(key) ?? []), element]);
  }
  /** @type {Element | null} */
  let before = null;
  for (const node of applied) {
    const [tag, , text] = node;
    const attributes = BASED.attributes?.(tag, node[1]) ?? node[1];
    const key = signature([tag, attributes, written(tag, attributes, text)]);
    const element = present.get(key)?.shift() ?? null;
    before =
      element ??
      insert(
        document,
        create(document, [tag, attributes, text], untrusted.has(node) ? '' : nonce),
        before,
      );
  }
  if (remove) {
    for (const element of [...present.values()].flat()) element.remove();
  } else if (titled || nodes.some(([tag]) => tag === 'title')) {
    removeOldTitles(head, applied);
  }
  if (head.querySelector('meta[name="viewport"]') === null) {
    head.append(create(document, ['meta', { name: 'viewport', content: VIEWPORT }, ''], ''));
  }
}

/**
 * Unmark titles whose text is not what was written: React has adopted them while it hydrated a
 * `<title>` that came after the head, and removes them itself.
 *
 * @param {HTMLHeadElement} head
 */
function releaseTitles(head) {
  for (const title of head.querySelectorAll(`title[${MARK}]`)) {
    const text = TITLES.get(title);
    if (text === undefined) TITLES.set(title, title.textContent);
    else if (text !== title.textContent) title.removeAttribute(MARK);
  }
}

/**
 * @param {HTMLHeadElement} head
 * @param {readonly HeadNode[]} nodes
 */
function removeOldTitles(head, nodes) {
  const text = nodes.find(([tag]) => tag === 'title')?.[2];
  for (const title of head.querySelectorAll(`title[${MARK}]`)) {
    if (title.textContent !== text) title.remove();
  }
}

/**
 * Return the text that an element has when the server's HTML of it has been read.
 *
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {string} text
 */
function written(tag, attributes, text) {
  return tag === 'title' ? text : content(tag, attributes, text);
}

/**
 * @param {Document} document
 * @param {Element} element
 * @param {Element | null} before
 */
function insert(document, element, before) {
  if (before === null) document.head.append(element);
  else before.after(element);
  return element;
}

/**
 * @param {Document} document
 * @param {HeadNode} node
 * @param {string} nonce
 */
function create(document, [tag, attributes, text], nonce) {
  const element = document.createElement(tag);
  element.setAttribute(MARK, '');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (nonce && (tag === 'script' || tag === 'style')) element.setAttribute('nonce', nonce);
  if (text !== '') element.textContent = written(tag, attributes, text);
  return element;
}

/**
 * @param {Element} element
 * @returns {HeadNode}
 */
function nodeOf(element) {
  /** @type {Record<string, string>} */
  const attributes = {};
  for (const { name, value } of element.attributes) {
    if (name !== MARK && name !== 'nonce') attributes[name] = value;
  }
  return [element.localName, attributes, element.textContent ?? ''];
}

/** @param {HeadNode} node */
function signature([tag, attributes, text]) {
  const sorted = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([tag, sorted, text]);
}
