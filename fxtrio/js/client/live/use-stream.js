/** `useStream`: the values of a `@stream` for as long as a component is shown. */

import { useCallback, useMemo } from 'react';

import { useRoute } from '../contexts.js';
import { useLatest } from '../latest.js';
import { isWebUrl } from '../navigation/urls.js';
import { useStore } from '../store.js';
import { DISABLED, StreamConnection, UNREAD } from './stream-connection.js';
import { actionPage, pathOf, searchUrl, withoutBase } from '../navigation/urls.js';

/** @typedef {import('../runtime.js').Runtime} Runtime */

/**
 * The connections of each running app, by their URLs.
 *
 * @type {WeakMap<Runtime, Map<string, StreamConnection>>}
 */
const connections = new WeakMap();

/**
 * Read a `@stream` of the page while the component is shown. All components that read the same one
 * share a connection. It is continued behind the last id when it is lost.
 *
 * @param {string} name
 * @param {object} [options]
 * @param {string} [options.page] the path of another page that defines it
 * @param {Record<string, string | number | boolean>} [options.query]
 * @param {number} [options.limit] how many values are kept
 * @param {boolean} [options.enabled] false closes the connection
 * @param {(value: any) => void} [options.onValue] called for each value
 * @returns {import('./stream-connection.js').StreamState}
 */
export function useStream(name, { page, query, limit = 100, enabled = true, onValue } = {}) {
  const { state, base, runtime } = useRoute('useStream');
  const url = streamUrl({ base, page: page ?? state.requestedPath, name, query });
  const receive = useLatest(onValue);
  const store = useMemo(() => {
    if (runtime === null || !enabled) return null;
    return {
      subscribe: (/** @type {() => void} */ listener) =>
        connectionTo(runtime, url).subscribe(listener, limit, receive),
      snapshot: () => connections.get(runtime)?.get(url)?.snapshot() ?? UNREAD,
    };
  }, [runtime, url, limit, enabled, receive]);
  const snapshot = useStore(store, enabled ? UNREAD : DISABLED);
  const latest = useCallback(
    (/** @type {any[]} */ values) => (values.length > limit ? values.slice(-limit) : values),
    [limit],
  );
  return useMemo(() => ({ ...snapshot, values: latest(snapshot.values) }), [snapshot, latest]);
}

/**
 * @param {object} options
 * @param {string} options.base
 * @param {string} options.page URL of the page that defines it, with or without the base
 * @param {string} options.name
 * @param {Record<string, string | number | boolean>} [options.query]
 */
export function streamUrl({ base, page, name, query = {} }) {
  const path = actionPage(withoutBase(pathOf(page), base));
  const url = `${base}/api/__streams/${path}/${encodeURIComponent(name)}`;
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  if (fields.length === 0) return url;
  return searchUrl(
    url,
    fields.map(([key, value]) => [key, String(value)]),
  );
}

/**
 * @param {Runtime} runtime
 * @param {string} url
 */
function connectionTo(runtime, url) {
  let open = connections.get(runtime);
  if (open === undefined) connections.set(runtime, (open = new Map()));
  let connection = open.get(url);
  if (connection === undefined) {
    connection = new StreamConnection({
      url,
      open: (target) => new EventSource(target),
      probe: (target) => fetch(target, { headers: { accept: 'text/event-stream' } }),
      redirect: (target) => {
        if (isWebUrl(target, new URL(location.href))) {
          void runtime.router.navigate(target, { fresh: true });
        }
      },
      onUnused: () => open.delete(url),
    });
    open.set(url, connection);
  }
  return connection;
}
