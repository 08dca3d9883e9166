/** `optimistic` of `useAction`: the page's data as a call that is under way will leave it. */

import { startTransition, useCallback, useContext, useEffect, useOptimistic, useRef } from 'react';

import { IslandContext, useRoute } from '../contexts.js';
import { useLoaded } from '../view/data.js';

/**
 * The keys of `data` that a call changes, or a function that returns them.
 *
 * @typedef {Record<string, any> | ((data: any, payload: any) => Record<string, any>)} Change
 */

const NOTHING = Object.freeze({ data: null });

/**
 * Return the data that the component has, with the changes of all calls under way, and a function
 * that makes one call with its change. After a call that succeeds the loaders run again, unless
 * it has redirected; the change ends when their data is there, and at once after a failure.
 *
 * React applies the ends of transitions that overlap together, so that the data of an early call
 * never takes the change of a later one back.
 *
 * @param {string} caller the name of the hook
 * @param {Change} [change] without it a call is made as it is
 */
export function useOptimisticData(caller, change) {
  const { runtime } = useRoute(caller);
  // An island has no data of the page, and needs none for calls without a change.
  const isWithout = useContext(IslandContext) && change === undefined;
  const { data } = isWithout ? NOTHING : useLoaded(caller);
  const [expected, expect] = useOptimistic(data, changed);
  const latest = useRef(change);
  useEffect(() => {
    latest.current = change;
  });
  const during = useCallback(
    /**
     * @param {unknown} payload
     * @param {() => Promise<import('./action-call.js').ActionResult>} call
     * @returns {Promise<import('./action-call.js').ActionResult>}
     */
    (payload, call) => {
      const now = latest.current;
      if (now === undefined) return call();
      return new Promise((resolve, reject) => {
        startTransition(async () => {
          expect({ change: now, payload });
          try {
            const result = await call();
            if (result.ok && result.redirect === undefined) await runtime?.router.refresh();
            resolve(result);
          } catch (error) {
            reject(error);
          }
        });
      });
    },
    [expect, runtime],
  );
  return { expected, during };
}

/**
 * Return data with the change of one call.
 *
 * @param {any} data
 * @param {{ change: Change, payload: unknown }} call
 */
export function changed(data, { change, payload }) {
  return { ...data, ...(typeof change === 'function' ? change(data, payload) : change) };
}
