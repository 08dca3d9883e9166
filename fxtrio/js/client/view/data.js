/** What loaders returned, for components that nobody hands it down to. */

import { useContext } from 'react';

import { DataContext, LevelContext, usePage } from '../contexts.js';
import { layoutProps } from './tree.js';

/**
 * Return what the loader of the page or layout around the component returned: its `data`.
 *
 * @returns {any}
 */
export function useData() {
  return useLoaded('useData').data;
}

/**
 * Return what the page or layout around the component has as `layoutData`.
 *
 * @returns {any}
 */
export function useLayoutData() {
  return useLoaded('useLayoutData').layoutData;
}

/**
 * Return both.
 *
 * @param {string} caller
 * @returns {{ data: any, layoutData: any }}
 */
export function useLoaded(caller) {
  const { state } = usePage(caller);
  const level = useContext(LevelContext);
  const provided = useContext(DataContext);
  if (provided !== null) return provided;
  return level < state.page.layouts.length ? layoutProps(state)[level] : state.props;
}
