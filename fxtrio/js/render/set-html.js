/**
 * HTML that elements of a page are given while it is rendered: a page that is sent without scripts
 * needs them after all if browsers would not read such HTML as it is written.
 *
 * The build lets elements call `checked` (`scripts/elements/set-html.js`).
 */

import { aroundHtml, htmlProblem } from '../scripts/elements/html.js';

/** @typedef {import('../client/types.js').State} State */
/** @typedef {{ head: string, html: string }} Rendered `html` is the inside of the root element */
/** @typedef {(id: number, state: State) => Rendered | Promise<Rendered>} Render `id` of the view */

/** What has been found (count), and the longest HTML of which it is kept (characters). */
const KEPT = 64;
const LONGEST = 64 * 1024;

/** What was found of HTML, by the element and the HTML; the oldest first. @type {Map<string, string>} */
const known = new Map();

/** In front of the HTML of a page that needs its scripts, whatever the build has found. */
const NEEDS_SCRIPTS = '<!--fx:scripts-->';

/** What is found in the current render; null while nobody asks. @type {{ problem: string | null }} */
const current = { problem: null };

/**
 * Return a function that renders like another one, and notes which pages need scripts after all.
 *
 * @param {Render} render
 * @returns {Render}
 */
export function withNeeds(render) {
  /** @type {Set<number>} views of which has been told why */
  const told = new Set();
  return (id, state) => {
    if (state.page?.scripts !== false) return render(id, state);
    const [rendered, problem] = watched(() => render(id, state));
    if (problem === '') return rendered;
    if (!told.has(id)) {
      console.warn(
        `${state.requestedPath}: ${problem}, so the page is sent with its scripts. ` +
          "Correct it, or write SCRIPTS = 'always'.",
      );
    }
    told.add(id);
    // Its islands are parts of it like all others.
    return marked(render(id, { ...state, page: { ...state.page, islands: undefined } }));
  };
}

/** @param {Rendered | Promise<Rendered>} rendered @returns {Rendered | Promise<Rendered>} */
function marked(rendered) {
  if (rendered instanceof Promise) return rendered.then(marked);
  return { head: rendered.head, html: NEEDS_SCRIPTS + rendered.html };
}

/**
 * Render, and return what is wrong besides the result; "" for nothing.
 *
 * @param {() => Rendered | Promise<Rendered>} render
 * @returns {[Rendered | Promise<Rendered>, string]}
 */
function watched(render) {
  current.problem = '';
  try {
    const rendered = render();
    const isBroken = !(rendered instanceof Promise) && !isWellFormed(rendered.html);
    return [rendered, isBroken ? 'half of a character in its text' : current.problem];
  } finally {
    current.problem = null;
  }
}

/** Whether a text is the same when it has been sent. @param {any} text */
function isWellFormed(text) {
  return text.isWellFormed();
}

/**
 * Return the HTML that an element is given, as React takes it.
 *
 * @param {any} given
 * @param {string} host the element
 */
export function checked(given, host) {
  const html = given?.__html;
  if (current.problem === '' && html !== undefined && html !== null) {
    current.problem = problemOf(html, host);
  }
  return given;
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
    if (known.size > KEPT) known.delete(known.keys().next().value ?? '');
  }
  return found;
}
