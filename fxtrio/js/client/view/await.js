/** `Await`: shows a deferred value of a loader. */

import { createElement, startTransition, Suspense, use, useEffect, useState } from 'react';

/**
 * Shows `children` of a value when it has come, `fallback` before. While a newer value of the same
 * page is on its way, the last one stays.
 *
 * @param {{
 *   value: any,
 *   fallback?: import('react').ReactNode,
 *   children: (value: any) => import('react').ReactNode,
 * }} props
 */
export function Await({ value, fallback = null, children }) {
  const [last, setLast] = useState(value);
  useEffect(() => {
    if (value === last) return undefined;
    let isCurrent = true;
    const show = () => {
      if (isCurrent) startTransition(() => setLast(value));
    };
    if (isPending(value)) value.then(show, show);
    else show();
    return () => {
      isCurrent = false;
    };
  }, [value, last]);
  // One that is still awaited may be that of a view whose response has been ended.
  const current = isPending(value) && hasCome(last) ? last : value;
  return createElement(
    Suspense,
    { fallback },
    createElement(Settled, { value: current, children }),
  );
}

/** @param {{ value: any, children: (value: any) => import('react').ReactNode }} props */
function Settled({ value, children }) {
  return children(isPromise(value) ? use(value) : value);
}

/** @param {any} value */
function isPending(value) {
  return isPromise(value) && value.status !== 'fulfilled' && value.status !== 'rejected';
}

/** @param {any} value */
function hasCome(value) {
  return !isPromise(value) || value.status === 'fulfilled';
}

/** @param {any} value */
function isPromise(value) {
  return typeof value?.then === 'function';
}
