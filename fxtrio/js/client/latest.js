/** Callbacks of the newest render, for effects that should not begin anew with each of them. */

import { useCallback, useLayoutEffect, useRef } from 'react';

/**
 * Return a function that is always the same and calls the `callback` of the last render.
 *
 * @template {(...args: any[]) => any} Callback
 * @param {Callback | undefined} callback
 * @returns {(...args: Parameters<Callback>) => ReturnType<Callback> | undefined}
 */
export function useLatest(callback) {
  const latest = useRef(callback);
  useLayoutEffect(() => {
    latest.current = callback;
  });
  return useCallback((...args) => latest.current?.(...args), []);
}
