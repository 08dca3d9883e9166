/** Functions that act on the running app from anywhere. */

import { invalidate as forget } from './invalidate.js';
import { runningApp } from '../running.js';

/**
 * Go to a page. Resolves when it is shown, or when something newer has taken its place; within an
 * asynchronous transition, which holds it back, when all that it needs has come.
 *
 * @param {string} href a path of the app or any URL
 * @param {{ replace?: boolean, scroll?: boolean }} [options]
 * @returns {Promise<void>}
 */
export function navigate(href, options) {
  return runningApp('navigate').router.navigate(href, options);
}

/**
 * Load a page's data and code, so that the navigation that follows waits for neither.
 *
 * @param {string} href
 * @returns {Promise<void>}
 */
export function prefetch(href) {
  return runningApp('prefetch').router.prefetch(href);
}

/**
 * Run the loaders of the shown page again, and those of `useLoader`; state and scroll position
 * stay. With `only`, other keys of the page's `data` and `layoutData` stay as they are, and other
 * deferred functions do not run.
 *
 * @param {{ only?: readonly string[] }} [options]
 * @returns {Promise<void>}
 */
export function refresh(options) {
  return runningApp('refresh').router.refresh(options);
}

/**
 * Forget what is kept for a URL: without a query for all of its queries, without a URL all.
 *
 * @param {string} [href]
 */
export function invalidate(href) {
  forget(runningApp('invalidate'), href);
}
