/** HTML of an app that is served below a path: every path of the app in it gets the base. Pure. */

import { basedValue, isKnown } from './attributes.js';

const TAG = /<(?:!--|([a-z][^\s/>]*))/gi;
const REST = /(?:[^"'>]|"[^"]*"|'[^']*')*>/y;
const ATTRIBUTE = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)/g;

/** Elements whose content is text, though it may look like tags. */
const RAW = new Set(['script', 'style', 'textarea', 'title', 'xmp']);

/**
 * Return HTML with the base in front of each path of the app that an attribute names. Text,
 * comments, scripts and stylesheets stay as they are.
 *
 * @param {string} html whole tags
 * @param {string} base
 */
export function basedHtml(html, base) {
  if (base === '') return html;
  const written = base.replaceAll('&', '&amp;'); // as it is in attributes
  let result = '';
  let done = 0;
  for (let at = 0; ;) {
    TAG.lastIndex = at;
    const found = TAG.exec(html);
    if (found === null) break;
    at = TAG.lastIndex;
    const [, name] = found;
    if (name === undefined) {
      at = endOf(html, '-->', at);
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
    at = RAW.has(tag) ? endOf(html, `</${name}`, REST.lastIndex) : REST.lastIndex;
  }
  return result + html.slice(done);
}

/**
 * @param {string} html
 * @param {string} closing
 * @param {number} from
 */
function endOf(html, closing, from) {
  const at = html.indexOf(closing, from);
  return at === -1 ? html.length : at + closing.length;
}

/**
 * @param {string} tag
 * @param {string} text attributes and the end of the tag
 * @param {string} base
 */
function basedTag(tag, text, base) {
  /** @param {string} name */
  const other = (name) => {
    const found = [...text.matchAll(ATTRIBUTE)].find(([, one]) => one.toLowerCase() === name);
    return found && unquoted(found[3]);
  };
  return text.replace(ATTRIBUTE, (whole, name, equals, value) => {
    const url = unquoted(value);
    const based = basedValue(tag, name, url, base, other);
    return based === url ? whole : `${name}${equals}${value.replace(url, () => based)}`;
  });
}

/** @param {string} value */
function unquoted(value) {
  return /^["']/.test(value) ? value.slice(1, -1) : value;
}
