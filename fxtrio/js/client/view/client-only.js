/** `ClientOnly`: parts of a page that only a browser can show. */

import { useStore } from '../store.js';

/** True as soon as the page has come to life. */
const ALIVE = { subscribe: () => () => {}, snapshot: () => true };

/**
 * Show `children` in the browser, `fallback` on the server and while the page comes to life.
 * A function as child is called in the browser only.
 *
 * @param {{
 *   children?: import('react').ReactNode | (() => import('react').ReactNode),
 *   fallback?: import('react').ReactNode,
 * }} props
 * @returns {import('react').ReactNode}
 */
export function ClientOnly({ children, fallback = null }) {
  if (!useStore(ALIVE, false)) return fallback;
  return typeof children === 'function' ? children() : children;
}
