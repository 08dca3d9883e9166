/**
 * The URLs in attributes of HTML elements, of an app that is served below a path: those that begin
 * with a slash are paths of the app, wherever they are written. Pure; cases in tests/wire/base.json.
 */

import { withBase } from '../../navigation/urls.js';

/** Attributes that hold one URL, in lower case, as HTML and as React has them. */
const URLS = new Set(['action', 'formaction', 'href', 'poster', 'src', 'xlink:href', 'xlinkhref']);

/** Attributes that hold several, each with what says when it is chosen. */
const CANDIDATES = new Set(['imagesrcset', 'srcset']);

/** A property or name of `<meta>` whose content is a URL. */
const META =
  /^(og:(url|(image|video|audio)(:(secure_)?url)?)|twitter:(image(:src)?|player)|msapplication-(config|tileimage|\w*logo))$/i;

const CANDIDATE = /(^|,)(\s*)(?=\/)(\S+)/g;
const REFRESH = /^([^/]*\burl\s*=\s*["']?)(\/.*)$/is;

/**
 * Whether an element's attributes are those that HTML defines: what a custom element makes of its
 * own is not known.
 *
 * @param {string} tag
 */
export function isKnown(tag) {
  return !tag.includes('-');
}

/**
 * Return the value of an attribute with the base in front of each path of the app in it.
 *
 * @param {string} tag in lower case
 * @param {string} name
 * @param {string} value
 * @param {string} base
 * @param {(name: string) => unknown} other returns another attribute of the element
 * @returns {string}
 */
export function basedValue(tag, name, value, base, other) {
  const known = name.toLowerCase();
  if (URLS.has(known) || (known === 'data' && tag === 'object')) return withBase(value, base);
  if (CANDIDATES.has(known)) {
    return value.replace(CANDIDATE, (_, comma, space, url) => comma + space + withBase(url, base));
  }
  if (known !== 'content' || tag !== 'meta') return value;
  if (META.test(`${other('property') ?? other('name') ?? ''}`)) return withBase(value, base);
  if (`${other('http-equiv') ?? other('httpEquiv')}`.toLowerCase() !== 'refresh') return value;
  return value.replace(REFRESH, (_, before, url) => before + withBase(url, base));
}
