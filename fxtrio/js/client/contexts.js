/** What the components of a page know of the page and of the app around them. */

import { createContext, useContext } from 'react';

/**
 * @typedef {object} Route
 * @property {import('./types.js').State} state
 * @property {import('./types.js').Parts} parts
 * @property {string} base URL path that the app is mounted at; "" for the root
 * @property {string} nonce of the policy for scripts; "" without one
 * @property {import('./types.js').HeadSink} head
 * @property {{ add(callback: () => import('react').ReactNode): void } | null} inserted HTML that
 *   the document of a render gets; null in browsers
 * @property {import('./runtime.js').Runtime | null} runtime null on the server
 * @property {import('./view/islands/island.js').Islands | null} [islands] takes the islands of a page
 *   without scripts; only on the server
 */

/** The page that is shown. */
export const RouteContext = createContext(/** @type {Route | null} */ (null));

/** How many layouts are around a component: the level of its `<Head>` elements. */
export const LevelContext = createContext(0);

/**
 * What the page around a component gets of loaders, where that is not what the state says by
 * itself: it came later, the component stands in a layout, or another page stands in.
 */
export const DataContext = createContext(
  /** @type {{ data: any, layoutData: any } | null} */ (null),
);

/** Whether a component stands in an island, which knows nothing of the page around it. */
export const IslandContext = createContext(false);

/**
 * Return the page that is shown.
 *
 * @param {string} caller the name of the component or hook that asks
 * @returns {Route}
 */
export function useRoute(caller) {
  const route = useContext(RouteContext);
  if (route === null) throw new Error(`${caller}: works only inside a page of the app.`);
  return route;
}

/**
 * Return the page that is shown, for what islands do not know of it.
 *
 * @param {string} caller the name of the component or hook that asks
 * @returns {Route}
 */
export function usePage(caller) {
  if (useContext(IslandContext)) {
    throw new Error(
      `${caller}: works in pages and layouts, and not in an <Island>, which has no data of them. ` +
        'Pass what it needs as a property.',
    );
  }
  return useRoute(caller);
}
