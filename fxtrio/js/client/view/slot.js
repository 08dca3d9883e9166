/** `Slot`: a place in a layout that the page fills. */

import { createElement } from 'react';

import { DataContext, usePage } from '../contexts.js';
import { pageProps } from './tree.js';

/**
 * Show what the page exports for this place as `slots = { [name]: component or element }`,
 * else `children`. A component gets the page's properties and those given here.
 *
 * @param {{ name: string, children?: import('react').ReactNode, [key: string]: unknown }} props
 * @returns {import('react').ReactNode}
 */
export function Slot({ name, children = null, ...rest }) {
  const { state, parts } = usePage('Slot');
  const slots = parts.page.slots ?? {};
  const filled = Object.hasOwn(slots, name) ? slots[name] : null;
  if (filled === undefined || filled === null) return children;
  const node =
    typeof filled === 'function'
      ? createElement(filled, { ...pageProps(state), ...rest })
      : /** @type {import('react').ReactNode} */ (filled);
  return createElement(DataContext, { value: state.props }, node);
}
