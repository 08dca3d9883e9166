/** Whether scripts have changed a page: what the server has sent, and what is shown a little later. */

import { whenReplaced } from './socket.js';

/** When effects have run that a page begins with (ms). */
const SETTLED_MS = 1000;

/**
 * What tells that a file has been saved, after which the page may show something else; one that
 * the server process is started anew for is not told.
 */
export const SAVED = ['fx:swapped', 'fx:data', 'vite:beforeUpdate'];

/**
 * Call `report` with the first change, if there is one that no save has made.
 *
 * @param {Document} document whose page has not come to life
 * @param {{ on(event: string, act: () => void): void }} hot
 * @param {(change: string) => void} report
 * @returns {() => void} to be called when it has
 */
export function watchChange(document, hot, report) {
  const root = document.getElementById('fx-root');
  const before = htmlOf(root);
  const url = document.URL;
  let isSaved = false;
  const saved = () => void (isSaved = true);
  for (const event of SAVED) hot.on(event, saved);
  whenReplaced(saved);
  return () => {
    setTimeout(() => {
      if (before === '' || document.URL !== url || isSaved) return;
      const change = changeOf(before, htmlOf(root));
      if (change !== '') report(change);
    }, SETTLED_MS);
  };
}

/**
 * Return the HTML of an element, but for islands: a build lets scripts change these.
 *
 * @param {Element | null} element
 */
function htmlOf(element) {
  const copy = /** @type {Element | undefined} */ (element?.cloneNode(true));
  for (const island of copy?.querySelectorAll('[data-fx-island]') ?? []) island.textContent = '';
  return copy?.innerHTML ?? '';
}

/**
 * Return the text after the first difference, with a little before it; "" where there is none.
 *
 * @param {string} before
 * @param {string} after
 */
function changeOf(before, after) {
  if (before === after) return '';
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const from = Math.max(0, start - 40);
  return `${after.slice(from, start + 60)}`;
}
