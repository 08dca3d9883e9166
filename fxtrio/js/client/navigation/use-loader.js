/** `useLoader`: the data of another page. */

import { useCallback, useMemo } from 'react';

import { usePage } from '../contexts.js';
import { Loads, NO_PAGE, WAITING } from './loads.js';
import { useStore } from '../store.js';

/**
 * Return what the loader of another page returns, for the visitor who sees this one: `data`,
 * `error` and `pending`, with a function that asks again. Hooks and loaders run as they do for a
 * navigation. Components that name the same path share one request, which the last one of them
 * aborts.
 *
 * @param {string | null} path null asks for nothing
 * @returns {import('./loads.js').Loaded & { refresh: () => Promise<void> }}
 */
export function useLoader(path) {
  const { runtime } = usePage('useLoader');
  const load = useMemo(() => {
    if (runtime === null || path === null) return null;
    const url = runtime.router.resolve(path);
    if (url === null) throw new Error(`useLoader: ${path} is not a page of the app.`);
    runtime.loads ??= new Loads(runtime.payloads);
    return runtime.loads.of(url);
  }, [runtime, path]);
  const snapshot = useStore(load, path === null ? NO_PAGE : WAITING);
  const refresh = useCallback(async () => load?.refresh(), [load]);
  return useMemo(() => ({ ...snapshot, refresh }), [snapshot, refresh]);
}
