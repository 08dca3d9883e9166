/** Errors that end a page although a `loading.fxl` is around it. Pure. */

import { Loading } from '../client/view/tree.js';

/** React's own `<Suspense>` in a stack: of a component with that name the line has a place. */
const BOUNDARY = /^\s*at Suspense \(<anonymous>\)$/;

/** The component right around the boundary of a `loading.fxl`. */
const LOADING = `at ${Loading.displayName} `;

/**
 * Whether an error has passed all boundaries of the page, and was caught by that of its
 * `loading.fxl`: without one, the render would have failed.
 *
 * React hands an error to the nearest `<Suspense>` around, and tells the components around it, the
 * innermost first. One in a fallback has `Suspense Fallback` there, and not the boundary around it.
 *
 * @param {import('react').ErrorInfo} info
 */
export function endsPage({ componentStack }) {
  const lines = (componentStack ?? '').split('\n');
  const nearest = lines.findIndex((line) => BOUNDARY.test(line));
  return nearest >= 0 && (lines[nearest + 1] ?? '').trimStart().startsWith(LOADING);
}
