/**
 * How deep the elements of a page are in each other, which only a render knows: components may show
 * themselves, and loops may wrap what they have made. Browsers put an element in more than 511 others
 * elsewhere. Pure.
 */

import { DEEPEST } from '../scripts/elements/html.js';

/** Tags of elements that have nothing in them. */
const EMPTY =
  /<(?:(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)(?=[\s/>])[^>]*|[^=<>]*\/|[^<>]*["'\s]\/)>/iy;

/** Elements whose content is text that only their own end tag ends. */
const RAW = /(?:iframe|noscript|script|style)(?=[\s/>])/iy;

/** The first two letters of these. */
const [IF, NO, SC, ST] = ['if', 'no', 'sc', 'st'].map(
  (one) => one.charCodeAt(0) | (one.charCodeAt(1) << 8),
);

/** Of the shortest element, `<b></b>` (characters). */
const SHORTEST = 7;

const BANG = 0x21;
const SLASH = 0x2f;

/**
 * Whether elements are deeper in each other than is known to be read as it is written.
 *
 * @param {string} html each of whose tags is closed and has no tag in its values, as React and HTML that
 *   has been looked at have it
 */
export function isTooDeep(html) {
  if (html.length < DEEPEST * SHORTEST) return false;
  return isDeep(html, false) && isDeep(html, true);
}

/**
 * @param {string} html
 * @param {boolean} isExact whether to look which elements have nothing in them, which takes long
 */
function isDeep(html, isExact) {
  let depth = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    const kind = html.charCodeAt(at + 1);
    if (kind === SLASH) {
      depth -= 1;
    } else if (kind === BANG) {
      at = endOf(html, html.startsWith('<!--', at) ? '-->' : '>', at);
    } else {
      if (isExact && isEmpty(html, at)) continue;
      depth += 1;
      if (depth > DEEPEST) return true;
      const letters = kind | (html.charCodeAt(at + 2) << 8) | 0x2020;
      if (letters === IF || letters === NO || letters === SC || letters === ST) {
        at = textEnd(html, at);
      }
    }
  }
  return false;
}

/** @param {string} html @param {number} at where a tag begins */
function isEmpty(html, at) {
  EMPTY.lastIndex = at;
  return EMPTY.test(html);
}

/** Return where the text ends that an element has for its content. @param {string} html @param {number} at */
function textEnd(html, at) {
  RAW.lastIndex = at + 1;
  const [name] = RAW.exec(html) ?? [];
  return name === undefined ? at : endOf(html, `</${name}`, at) - 1;
}

/**
 * Return where a text begins behind a place; the end of all if there is none.
 *
 * @param {string} html
 * @param {string} text
 * @param {number} from
 */
function endOf(html, text, from) {
  const found = html.indexOf(text, from);
  return found < 0 ? html.length : found;
}
