/**
 * What only a render knows: HTML that elements are given, and how deep elements are in each other. A page
 * that is sent without scripts needs them after all if browsers would not read it as it is written.
 *
 * The build lets elements call `checked` and `oneText` (`scripts/elements/set-html.js`).
 */

import { aroundHtml, DEEPEST, htmlProblem } from '../scripts/elements/html.js';
import { isTooDeep } from './depth.js';

/** @typedef {import('../client/types.js').State} State */
/** @typedef {{ head: string, html: string }} Rendered `html` is the inside of the root element */
/** @typedef {(id: number, state: State) => Rendered | Promise<Rendered>} Render `id` of the view */

/** What has been found (count), and the longest HTML of which it is kept (characters). */
const CAPACITY = 64;
const LONGEST = 64 * 1024;

/** What was found of HTML, by the element and the HTML; the oldest first. @type {Map<string, string>} */
const known = new Map();

/** In front of the HTML of a page that needs its scripts, whatever the build has found. */
const NEEDS_SCRIPTS = '<!--fx:scripts-->';

/** What is wrong in a render; "" as long as nothing is. @typedef {{ problem: string }} Watch */

/** Of a render of which nobody asks. @type {Watch} */
const UNASKED = Object.freeze({ problem: 'unasked' });

/** The render that runs; null between the parts of those that wait. @type {{ watch: Watch | null }} */
const current = { watch: null };

/**
 * Of renders that wait for something. What is wrong in a later part of one counts for all of them,
 * since nothing says which one goes on: scripts too many cost bytes alone.
 *
 * @type {Set<Watch>}
 */
const waiting = new Set();

/**
 * Of elements that were made outside of any render, and may be in any page from then on.
 *
 * @type {Watch}
 */
const outside = { problem: '' };

/**
 * Return a function that renders like another one, and notes which pages need scripts after all.
 *
 * @param {Render} render
 * @returns {Render}
 */
export function withNeeds(render) {
  /** @type {Set<number>} views of which the cause has been logged */
  const reported = new Set();
  /** HTML with which nothing is wrong, by the view: most pages are the same each time. @type {Map<number, string>} */
  const right = new Map();
  /** @type {(id: number, state: State, rendered: Rendered, problem: string) => ReturnType<Render>} */
  const settled = (id, state, rendered, problem) => {
    const { head, html } = rendered;
    const found =
      problem ||
      outside.problem ||
      problemOfText(head) ||
      (right.get(id) === html ? '' : problemOfAll(html));
    if (found === '') {
      if (html.length <= LONGEST && (right.size < CAPACITY || right.has(id))) right.set(id, html);
      return rendered;
    }
    if (!reported.has(id)) {
      console.warn(
        `${state.requestedPath}: ${found}, ` +
          (state.page.never
            ? "and SCRIPTS = 'none', so browsers may show it in another way. Correct it."
            : "so the page is sent with its scripts. Correct it, or write SCRIPTS = 'always'."),
      );
    }
    reported.add(id);
    if (state.page.never) return rendered;
    // Its islands are parts of it like all others.
    const whole = { ...state, page: { ...state.page, islands: undefined } };
    return marked(watched(UNASKED, () => render(id, whole)));
  };
  return (id, state) => {
    if (state.page?.scripts !== false) return watched(UNASKED, () => render(id, state));
    const watch = { problem: '' };
    const rendered = watched(watch, () => render(id, state));
    if (!(rendered instanceof Promise)) return settled(id, state, rendered, watch.problem);
    waiting.add(watch);
    return rendered
      .finally(() => waiting.delete(watch))
      .then((whole) => settled(id, state, whole, watch.problem));
  };
}

/** @param {Rendered | Promise<Rendered>} rendered @returns {Rendered | Promise<Rendered>} */
function marked(rendered) {
  if (rendered instanceof Promise) return rendered.then(marked);
  return { head: rendered.head, html: NEEDS_SCRIPTS + rendered.html };
}

/**
 * Render, and note what is wrong.
 *
 * @param {Watch} watch
 * @param {() => Rendered | Promise<Rendered>} render
 */
function watched(watch, render) {
  const before = current.watch;
  current.watch = watch;
  try {
    return render();
  } finally {
    current.watch = before;
  }
}

/** Return what is wrong with the HTML of a whole page, whatever is in it. @param {string} html */
function problemOfAll(html) {
  const found = problemOfText(html);
  return found === '' && isTooDeep(html) ? `more than ${DEEPEST} elements in each other` : found;
}

/** Return which characters browsers do not read as they are written. @param {any} html */
function problemOfText(html) {
  if (!html.isWellFormed()) return 'half of a character in its text';
  return html.includes('\0') ? 'U+0000 in its text' : '';
}

/**
 * Return the HTML that an element is given, as React takes it: it is looked at when React reads it, since
 * an element may have been made before the render.
 *
 * @param {any} prop
 * @param {string} host the element
 */
export function checked(prop, host) {
  if (prop === null || typeof prop !== 'object' || !('__html' in prop)) return prop;
  return {
    get __html() {
      const html = prop.__html;
      if (html !== undefined && html !== null) {
        note(() => problemOf(html, host));
      }
      return html;
    },
  };
}

/**
 * Return what an element has as its only child, which is looked at when the element is made: React
 * writes a list or an element in another way than a text, and browsers leave out a first newline.
 *
 * @template T
 * @param {T} child
 * @param {string} host the element
 * @returns {T}
 */
export function oneText(child, host) {
  if (typeof child !== 'object' || child === null) return child;
  const problem = `children of <${host}> that are not one text`;
  if (current.watch === null) outside.problem = problem;
  else note(() => problem);
  return child;
}

/** Note what is wrong, where nothing was yet. @param {() => string} problem */
function note(problem) {
  for (const watch of current.watch === null ? waiting : [current.watch]) {
    if (watch.problem === '') watch.problem = problem();
  }
}

/**
 * @param {unknown} html
 * @param {string} host
 */
function problemOf(html, host) {
  if (typeof html !== 'string') return `HTML of <${host}> that is no text`;
  const key = `${host}>${html}`;
  let found = known.get(key);
  if (found === undefined) {
    found = htmlProblem(html, aroundHtml(host));
    if (found !== '') found += ` in the HTML of <${host}>`;
    if (html.length <= LONGEST) known.set(key, found);
    if (known.size > CAPACITY) known.delete(known.keys().next().value ?? '');
  }
  return found;
}
