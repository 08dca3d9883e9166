/**
 * Elements where HTML does not allow them: browsers rearrange these when they read a document, and React
 * restores what was written (the HTML standard, "Tree construction").
 *
 * What is around an element in its own component is looked at here, and what components bring there in
 * `across.js`.
 */

import { ANYWHERE, CHILDREN, ROWS } from './tables.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../code.js').Reason} Reason */

/** What these may be in. @type {Record<string, string[]>} */
const PARENTS = {
  ...{ caption: ['table'], colgroup: ['table'], tbody: ['table'], thead: ['table'] },
  ...{ tfoot: ['table'], tr: ROWS, td: ['tr'], th: ['tr'], col: ['colgroup'] },
};

/** What ends a paragraph. */
const BLOCKS = new Set([
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'center',
    'dd',
    'details',
    'dialog',
    'dir',
    'div',
  ],
  ...[
    'dl',
    'dt',
    'fieldset',
    'figcaption',
    'figure',
    'footer',
    'form',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
  ],
  ...['h6', 'header', 'hgroup', 'hr', 'li', 'listing', 'main', 'menu', 'nav', 'ol', 'p'],
  ...['plaintext', 'pre', 'search', 'section', 'summary', 'table', 'ul', 'xmp'],
]);

/** What has no other of its kind in it, however deep. */
const ALONE = new Set(['a', 'button', 'form', 'nobr']);

/** What ends one of its kind that it is directly in. */
const CLOSING = [/^h[1-6]$/, /^option$/, /^r(b|p|t|tc)$/];

/** What parts of ruby texts end, if they are directly in it. */
const ENDED = /^(d[dt]|li|opt(group|ion)|p)$/;

/** What has only these in it, besides texts. @type {Map<string, string[]>} */
const CHOICES = new Map([
  ['select', ['option', 'optgroup', 'hr']],
  ['optgroup', ['option']],
  ['option', []],
]);

/** What ends one of its kind that it is in, whatever phrase or plain block is between. */
const ITEMS = [/^li$/, /^d[dt]$/];
const PLAIN = new Set(['address', 'dialog', 'div', 'p', 'search']);

/** Of these, what is not a matter of the drawing or formula around it. */
const OF_DOCUMENT = new Set(['a', 'form']);

/** What matters for what is directly in it, or has to be named. */
const RESTRICTING =
  /^(a|button|colgroup|d[dt]|form|h[1-6]|li|nobr|optgroup|option|p|r(b|p|t|tc)|select|t(able|body|foot|head|r))$/;

/** What stands for an element that allows all. */
const FREE = 'div';

/** What ends a drawing or a formula, besides blocks. */
const OF_HTML = new Set([
  ...['b', 'big', 'br', 'code', 'em', 'embed', 'font', 'i', 'img', 'meta', 'nobr', 'ruby', 's'],
  ...['small', 'span'],
  ...['strike', 'strong', 'sub', 'sup', 'tt', 'u', 'var'],
]);

/** Drawings and formulas, and what holds HTML in them. */
const FOREIGN = /^(svg|math)$/;
/** @type {Record<string, RegExp>} */
const INTEGRATED = { svg: /^(desc|foreignObject|title)$/, math: /^(m[inos]|mtext)$/ };

/** Within which the paragraphs around do not count. */
const SCOPES = new Set(['button', 'caption', 'object', 'table', 'td', 'th']);

export class Nesting {
  /** Names of elements of HTML, the innermost last; "" for a component. @type {string[]} */
  #around = [];

  /**
   * Enter an element, which `leave` has to follow.
   *
   * @param {Node} node
   * @param {string} name of an element of HTML; "" for a component, which puts its children anywhere
   * @returns {Reason[]}
   */
  enter(node, name) {
    const around = this.#around.slice(this.#around.lastIndexOf('') + 1);
    this.#around.push(name);
    const outer = name === '' ? undefined : clashOf(name, around);
    if (outer === undefined) return [];
    return [{ node, cause: `<${name}> in <${outer}>, which browsers rearrange` }];
  }

  leave() {
    this.#around.pop();
  }

  /** Return the elements of HTML around the current one, up to a component. */
  outer() {
    return this.#around.slice(this.#around.lastIndexOf('', -2) + 1, -1);
  }
}

/**
 * Return which of the elements around one it cannot be in.
 *
 * @param {string} name
 * @param {string[]} around
 * @returns {string | undefined}
 */
export function clashOf(name, around) {
  const parent = around.at(-1);
  if (parent === undefined) return undefined;
  const { foreign, inside } = drawnIn(around);
  if (foreign !== undefined) {
    const isOther = FOREIGN.test(name) && name !== foreign;
    return BLOCKS.has(name) || OF_HTML.has(name) || isOther ? foreign : undefined;
  }
  if (name === 'image') return parent; // which is read as <img>
  if (OF_DOCUMENT.has(name) && around.includes(name)) return name;
  if (inside > 0) {
    const clash = clashOf(name, inside < around.length ? around.slice(inside) : [FREE]);
    return clash === FREE ? parent : clash;
  }
  const isMisplaced = Object.hasOwn(PARENTS, name) && !PARENTS[name].includes(parent);
  const allowed = Object.hasOwn(CHILDREN, parent) ? CHILDREN[parent] : CHOICES.get(parent);
  if (isMisplaced || (allowed && !allowed.includes(name) && !ANYWHERE.has(name))) return parent;
  if (CLOSING.some((kind) => kind.test(name) && kind.test(parent))) return parent;
  if (CLOSING[2].test(name) && ENDED.test(parent)) return parent;
  const block = around.findLast(isBoundary);
  if (ITEMS.some((kind) => kind.test(name) && kind.test(block ?? ''))) return block;
  if (ALONE.has(name) && around.includes(name)) return name;
  const scope = around.slice(around.findLastIndex((one) => SCOPES.has(one)) + 1);
  return BLOCKS.has(name) && scope.includes('p') ? 'p' : undefined;
}

/**
 * Return the drawing or formula that is around, and how many elements are around the HTML in one.
 *
 * @param {string[]} around
 */
function drawnIn(around) {
  const foreign = around.findLastIndex((one) => FOREIGN.test(one));
  if (foreign < 0) return { inside: 0 };
  const kind = INTEGRATED[around[foreign]];
  // From there on all is HTML, whatever it is called.
  const integrated = around.findIndex((one, at) => at > foreign && kind.test(one));
  return integrated > foreign
    ? { inside: integrated + 1 }
    : { foreign: around[foreign], inside: 0 };
}

/** Return the drawing or formula that an element would be a part of. @param {string[]} around */
export function drawingAround(around) {
  return drawnIn(around).foreign;
}

/** Whether an element ends a search for list items around. @param {string} name */
function isBoundary(name) {
  return !PLAIN.has(name) && (BLOCKS.has(name) || SCOPES.has(name));
}

/**
 * Return elements around one that allow the same: few, so that the same ones come again.
 *
 * @param {string[]} around
 * @returns {string[]}
 */
export function shortened(around) {
  const { foreign, inside } = drawnIn(around);
  const outer = around.filter((one) => OF_DOCUMENT.has(one));
  if (foreign !== undefined) return [...new Set(outer), foreign];
  if (inside > 0) {
    const rest = around.slice(inside);
    return [...new Set(outer), 'svg', 'title', ...(rest.length > 0 ? shortened(rest) : [])];
  }
  const alone = [...ALONE].filter((one) => around.includes(one));
  const block = around.findLast(isBoundary) ?? '';
  const items = ITEMS.some((kind) => kind.test(block)) ? [block] : [];
  const scope = around.slice(around.findLastIndex((one) => SCOPES.has(one)) + 1);
  const last = around.at(-1) ?? '';
  const paragraph = scope.includes('p') ? ['p'] : [];
  return [...alone, ...items, ...paragraph, RESTRICTING.test(last) ? last : FREE];
}

/** Whether an element may have all around it but parts of others. @param {string[]} around */
export function isFree(around) {
  return around.every((one) => one === FREE);
}
