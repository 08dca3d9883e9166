/** Values that components read and that something else than React changes. */

import { useSyncExternalStore } from 'react';

/**
 * @template T
 * @typedef {object} Store
 * @property {(listener: () => void) => () => void} subscribe ends with the function it returns
 * @property {() => T} snapshot the same object until it changes
 */

const silent = () => () => {};

/**
 * Return the value of a store, and render again when it changes.
 *
 * @template T
 * @param {Store<T> | null} store null on the server
 * @param {T} initial what the server renders with; the same object for every render
 * @returns {T}
 */
export function useStore(store, initial) {
  const rendered = () => initial;
  return useSyncExternalStore(store?.subscribe ?? silent, store?.snapshot ?? rendered, rendered);
}
