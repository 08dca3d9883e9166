/** `Island`: a part of a page that comes to life alone, while the page around it stays HTML. */

import { Children, createElement, isValidElement, useContext } from 'react';

import { IslandContext, useRoute } from '../../contexts.js';
import { nameOf, requireJson } from './json.js';

/**
 * @typedef {'load' | 'idle' | 'visible'} When
 * @typedef {import('react').ReactElement<Record<string, unknown>>} Child
 */

/**
 * Takes the islands of a page without scripts.
 *
 * @typedef {object} Islands
 * @property {(child: Child, when: When) => Record<string, unknown>} add returns the attributes of
 *   the element around it
 */

/** The element around an island, which has no box of its own. */
const ELEMENT = 'fx-island';
const CONTENTS = { display: 'contents' };

const WHEN = new Set(['load', 'idle', 'visible']);

/**
 * Mark a part of a page that needs scripts. In a page without scripts its component is loaded, with
 * React, when `when` comes: at once, when the browser is idle, or when it is nearly visible. Other
 * pages show it as a part of themselves.
 *
 * Its properties are sent as JSON. `as` is the element around it: by default one without a box.
 * Builds say at which `place` it stands.
 *
 * @param {{
 *   when?: When,
 *   as?: string,
 *   className?: string,
 *   place?: string,
 *   children?: import('react').ReactNode,
 * }} props
 * @returns {import('react').ReactElement}
 */
export function Island({ when = 'load', as = ELEMENT, className, place, children }) {
  const { islands } = useRoute('Island');
  const isInner = useContext(IslandContext);
  if (!WHEN.has(when)) {
    throw new Error(`<Island>: when must be "load", "idle" or "visible", not ${when}.`);
  }
  const child = childOf(children);
  const own = { className, ...(as === ELEMENT && { style: CONTENTS }) };
  const isAlone = islands && !isInner; // an inner one is a part of the outer
  if (isAlone || process.env.NODE_ENV !== 'production') {
    requireJson(child.props, nameOf(child.type), place);
  }
  if (isAlone) return createElement(as, { ...own, ...islands.add(child, when) });
  return createElement(
    as,
    { ...own, 'data-fx-island': '' },
    createElement(IslandContext, { value: true }, child),
  );
}

/**
 * @param {import('react').ReactNode} children
 * @returns {Child}
 */
function childOf(children) {
  const all = Children.toArray(children);
  const [child] = all;
  if (all.length !== 1 || !isValidElement(child) || typeof child.type === 'string') {
    throw new Error(
      '<Island>: its child must be one component from a separate file, such as ' +
        '<Island><Counter /></Island>.',
    );
  }
  return /** @type {Child} */ (child);
}
