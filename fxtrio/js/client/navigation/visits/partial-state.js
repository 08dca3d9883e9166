/** A page of which some keys of the data were loaded anew: `refresh({ only })`. */

import { merged, put } from '../../view/own-keys.js';

/** @typedef {import('../../types.js').State} State */
/** @typedef {import('../../types.js').Json} Json */

/**
 * Return the names in payloads of keys of `data` and `layoutData`. A key that nothing has is one of
 * the page's own.
 *
 * @param {State} state
 * @param {Iterable<string>} keys
 * @returns {string[]}
 */
export function namesOf(state, keys) {
  const layouts = ownOfLayouts(state);
  return Array.from(keys, (key) => {
    const layout = layouts.findLastIndex((own) => own !== null && Object.hasOwn(own, key));
    const isOwn = layout === -1 || Object.hasOwn(state.props.data, key);
    return isOwn ? `page:${key}` : `${layout}:${key}`;
  });
}

/**
 * Return a state with the values that another one of the same page has for `names`; null when it
 * is of another page.
 *
 * @param {State} before
 * @param {State} after
 * @param {readonly string[]} names
 * @returns {State | null}
 */
export function withNewer(before, after, names) {
  if (!isSamePage(before, after)) return null;
  const page = { ...before.props.data };
  const layouts = ownOfLayouts(before).map((own) => own && { ...own });
  const newer = ownOfLayouts(after);
  for (const name of names) {
    const colon = name.indexOf(':');
    const [place, key] = [name.slice(0, colon), name.slice(colon + 1)];
    const [to, from] =
      place === 'page' ? [page, after.props.data] : [layouts[+place], newer[+place]];
    if (!to) continue;
    if (from && Object.hasOwn(from, key)) put(to, key, from[key]);
    else delete to[key];
  }
  const layoutData = merged(layouts);
  const promises = [...(before.promises ?? []), ...(after.promises ?? [])];
  return {
    ...after,
    props: { data: page, layoutData },
    layouts,
    ...(promises.length > 0 && { promises: [...new Set(promises)] }),
    stops: [...(before.stops ?? []), ...(after.stops ?? [])],
  };
}

/**
 * @param {State} one
 * @param {State} other
 */
function isSamePage(one, other) {
  return (
    one.ok &&
    other.ok &&
    one.page.module === other.page.module &&
    one.layouts.length === other.layouts.length
  );
}

/**
 * Return the data of each layout's own loader; null where there is none.
 *
 * @param {State} state
 * @returns {(Json | null)[]}
 */
function ownOfLayouts({ layouts, props }) {
  return layouts.map((mark) => (mark === true ? props.layoutData : mark));
}
