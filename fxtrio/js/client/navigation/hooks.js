/** Hooks about the page that is shown. */

import { useMemo } from 'react';

import { useRoute } from '../contexts.js';
import { IDLE } from './lazy-router.js';
import { useStore } from '../store.js';
import { pathOf, queryOf, withoutBase } from './urls.js';

/**
 * Return the path of the page as the address bar has it, without the base URL.
 *
 * @returns {string}
 */
export function usePathname() {
  const { state, base } = useRoute('usePathname');
  return withoutBase(pathOf(state.requestedPath), base);
}

/**
 * Return the values of the dynamic parts of the path.
 *
 * @returns {Record<string, string>}
 */
export function useParams() {
  return useRoute('useParams').state.params;
}

/**
 * Return the query. The same object until the query changes; it is not meant to be changed.
 *
 * @returns {URLSearchParams}
 */
export function useSearchParams() {
  const { state, runtime } = useRoute('useSearchParams');
  const { exported, scripts } = state.page;
  if (runtime === null && exported && scripts === false) {
    // A file is the same for all queries, and nothing reads the address bar.
    throw new Error(
      "useSearchParams: an exported page without scripts has no query. Write SCRIPTS = 'always' " +
        'in its server half.',
    );
  }
  const query = queryOf(state.requestedPath);
  return useMemo(() => new URLSearchParams(query), [query]);
}

/**
 * Return what is loading: `state` is "idle" or "loading", `to` the path and query.
 *
 * @returns {{ state: 'idle' | 'loading', to: string | null, pending: boolean }}
 */
export function useNavigation() {
  const { runtime } = useRoute('useNavigation');
  const { state, to } = useStore(runtime?.router ?? null, IDLE);
  return { state, to, pending: state === 'loading' };
}

/**
 * Return the nonce that inline scripts and styles need; "" without a policy.
 *
 * @returns {string}
 */
export function useNonce() {
  return useRoute('useNonce').nonce;
}

/**
 * Add elements to the document of a render: the styles that a library has collected. `callback` is
 * called when components have been rendered, in a stream after each part of them, and returns what
 * is new since. Browsers do not call it.
 *
 * @param {() => import('react').ReactNode} callback
 */
export function useServerInsertedHTML(callback) {
  useRoute('useServerInsertedHTML').inserted?.add(callback);
}
