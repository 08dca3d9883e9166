/** Errors that end a page although a `loading.fxl` is around it. Pure. */

import { Loading } from '../client/view/tree.js';

/** The name of a component in a line of a stack. */
const NAME = /^\s*(?:at )?([^\s@]+)/;

/**
 * Whether an error has passed all boundaries of the page, and was caught by that of its
 * `loading.fxl`: without one, the render would have failed.
 *
 * React hands an error to the nearest `<Suspense>` around, and tells the components around it, the
 * innermost first.
 *
 * @param {import('react').ErrorInfo} info
 */
export function endsPage({ componentStack }) {
  const names = (componentStack ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => NAME.exec(line)?.[1]);
  const nearest = names.indexOf('Suspense');
  return nearest >= 0 && names[nearest + 1] === Loading.displayName;
}
