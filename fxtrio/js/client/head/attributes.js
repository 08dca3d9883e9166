/** Attributes of `<html>` and `<body>`, kept in step with the head of the shown page. */

import { MARK } from './tags.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/** What documents have where neither a head nor the settings say it. */
const LANG = 'en';

/**
 * Writes what has changed since it wrote last, and nothing else: scripts of the page may set
 * attributes too, such as the theme that a visitor has just chosen.
 */
export class DocumentAttributes {
  #document;
  /** @type {Record<string, Map<string, string | null>>} by tag and name; null: as it came */
  #applied = {};

  /**
   * @param {Document} document
   * @param {readonly HeadNode[]} roots those of the `HEAD` that the document was written with
   * @param {string} [lang] of documents whose head says nothing about it
   */
  constructor(document, roots, lang = LANG) {
    this.#document = document;
    for (const tag of ['html', 'body']) {
      const marked = elementOf(document, tag).getAttribute(MARK)?.split(' ') ?? [];
      this.#applied[tag] = new Map([
        ...(tag === 'html' ? [/** @type {const} */ (['lang', lang])] : []),
        ...marked.map((name) => /** @type {const} */ ([name, null])),
        ...Object.entries(attributesOf(tag, roots)),
      ]);
    }
  }

  /**
   * Make the attributes those of `roots`.
   *
   * @param {readonly HeadNode[]} roots
   * @param {object} [options]
   * @param {string} [options.lang] of documents whose head says nothing about it
   * @param {boolean} [options.remove] false while components may still be to come
   */
  apply(roots, { lang = LANG, remove = true } = {}) {
    for (const [tag, applied] of Object.entries(this.#applied)) {
      const element = elementOf(this.#document, tag);
      /** @type {Record<string, string>} */
      const wanted = { ...(tag === 'html' ? { lang } : {}), ...attributesOf(tag, roots) };
      for (const [name, value] of Object.entries(wanted)) {
        const before = applied.get(name);
        // What came with the document is what its components have said: they say it again now.
        if (before !== value && (before !== null || remove)) write(element, name, value, before);
        applied.set(name, value);
      }
      for (const [name, before] of remove ? [...applied] : []) {
        if (name in wanted) continue;
        write(element, name, null, before);
        applied.delete(name);
      }
    }
  }
}

/**
 * @param {Document} document
 * @param {string} tag
 * @returns {HTMLElement}
 */
function elementOf(document, tag) {
  return tag === 'html' ? document.documentElement : document.body;
}

/**
 * @param {string} tag
 * @param {readonly HeadNode[]} roots
 * @returns {Record<string, string>}
 */
function attributesOf(tag, roots) {
  return roots.find(([each]) => each === tag)?.[1] ?? {};
}

/**
 * Change an attribute. Of `class` only the names of the head, as libraries add their own.
 *
 * @param {HTMLElement} element
 * @param {string} name
 * @param {string | null} value null: remove it
 * @param {string | null | undefined} before
 */
function write(element, name, value, before) {
  if (name === 'class' && before !== null) {
    const names = words(value);
    element.classList.remove(...words(before).filter((each) => !names.includes(each)));
    element.classList.add(...names);
  } else if (name === 'style') {
    element.style.cssText = value ?? ''; // a policy may forbid the attribute
  } else if (value === null) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value);
  }
}

/** @param {string | null | undefined} text */
function words(text) {
  return text?.split(/\s+/).filter(Boolean) ?? [];
}
