/**
 * URLs in the HTML of an app that is served below a path: of built files, and of the app.
 *
 * A module that imports an image has its URL as a string, made when the bundle is loaded. In
 * the browser that is worked out from the module's own URL; here it is put right in the HTML.
 */

import { basedHtml } from '../client/view/base/html.js';

/** @typedef {import('../client/types.js').State} State */

/** What the builds call a file: its name, a digest of its content, its type. */
const FILE = '[\\w.-]*-[\\w-]{8}\\.[a-z0-9]+';

/** @param {string} html */
export const same = (html) => html;

/**
 * Return what puts the URLs in HTML right: those of built files, where the app is served below
 * another path than it was built for, and all paths of the app that attributes name.
 *
 * @param {string} base URL path that the app was built for
 * @param {State} state
 * @returns {(html: string) => string} takes whole tags
 */
export function movedFrom(base, { page }) {
  const mounted = page?.base ?? base;
  if (mounted === '') return same;
  if (mounted === base) return (html) => basedHtml(html, base);
  const built = `${base}/_fx/`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const urls = new RegExp(`(?<![\\w/.:-])${built}(?=${FILE})`, 'g');
  return (html) =>
    basedHtml(
      html.replace(urls, () => `${mounted}/_fx/`),
      mounted,
    );
}
