/** HTML of an app that is served below a path: every path of the app in it gets the base. Pure. */

import { basedValue, isKnown } from './attributes.js';

const TAG = /<(?:!--|\/(?:svg|math)(?=[\s/>])|([a-z][^\s/>]*))/gi;
const REST = /(?:[^"'>]|"[^"]*"|'[^']*')*>/y;
const ATTRIBUTE = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)/g;

/** The ends of elements whose content is text, though it may look like tags. */
const RAW = new Map(
  ['script', 'style', 'textarea', 'title', 'xmp'].map((tag) => [
    tag,
    new RegExp(`</${tag}(?=[\\s/>])`, 'gi'),
  ]),
);
const COMMENT_END = /-->/g;

/** Elements of drawings and formulas: only within them a tag may close itself (`<title/>`). */
const FOREIGN = new Set(['svg', 'math']);

/**
 * Return HTML with the base in front of each path of the app that an attribute names. Text,
 * comments, scripts and stylesheets stay as they are.
 *
 * @param {string} html whole tags
 * @param {string} base
 * @param {string} [parent] the element that the HTML is the content of, in lower case
 */
export function basedHtml(html, base, parent = '') {
  if (base === '') return html;
  const written = base.replaceAll('&', '&amp;'); // as it is in attributes
  let result = '';
  let done = 0;
  let depth = FOREIGN.has(parent) ? 1 : 0; // of drawings and formulas
  for (let at = 0; ;) {
    TAG.lastIndex = at;
    const found = TAG.exec(html);
    if (found === null) break;
    at = TAG.lastIndex;
    const [, name] = found;
    if (name === undefined) {
      if (found[0] === '<!--') at = endOf(html, COMMENT_END, at);
      else depth = Math.max(depth - 1, 0);
      continue;
    }
    REST.lastIndex = at;
    const rest = REST.exec(html);
    if (rest === null) break; // to browsers, too, a tag without an end is the end
    const tag = name.toLowerCase();
    if (isKnown(tag) && rest[0].includes('=')) {
      result += html.slice(done, at) + basedTag(tag, rest[0], written);
      done = REST.lastIndex;
    }
    at = REST.lastIndex;
    const isClosed = rest[0].endsWith('/>') && (depth > 0 || FOREIGN.has(tag));
    if (isClosed) continue;
    if (FOREIGN.has(tag)) depth += 1;
    const end = RAW.get(tag);
    if (end !== undefined) at = endOf(html, end, at);
  }
  return result + html.slice(done);
}

/**
 * @param {string} html
 * @param {RegExp} end
 * @param {number} from
 */
function endOf(html, end, from) {
  end.lastIndex = from;
  return end.test(html) ? end.lastIndex : html.length;
}

/**
 * @param {string} tag
 * @param {string} text attributes and the end of the tag
 * @param {string} base
 */
function basedTag(tag, text, base) {
  /** @type {Map<string, string> | undefined} */
  let attributes;
  /** @param {string} name */
  const other = (name) => {
    attributes ??= attributesOf(text);
    return attributes.get(name);
  };
  return text.replace(ATTRIBUTE, (whole, name, equals, value) => {
    const url = unquoted(value);
    const based = basedValue(tag, name, url, base, other);
    return based === url ? whole : `${name}${equals}${value.replace(url, () => based)}`;
  });
}

/**
 * @param {string} text
 * @returns {Map<string, string>} by name in lower case; the first counts
 */
function attributesOf(text) {
  const found = new Map();
  for (const [, name, , value] of text.matchAll(ATTRIBUTE)) {
    const known = name.toLowerCase();
    if (!found.has(known)) found.set(known, unquoted(value));
  }
  return found;
}

/** @param {string} value */
function unquoted(value) {
  return /^["']/.test(value) ? value.slice(1, -1) : value;
}
