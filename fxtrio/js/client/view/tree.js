/** One tree of React elements for a state, the same on the server and in the browser. */

import { createElement, Suspense, use } from 'react';

import { DataContext, LevelContext } from '../contexts.js';
import { PageBoundary } from './boundary.js';
import { pathOf } from '../navigation/urls.js';

/** @typedef {import('../types.js').State} State */
/** @typedef {import('../types.js').Parts} Parts */
/** @typedef {import('../types.js').Json} Json */

/** @type {Json} */
const NOTHING = Object.freeze({});

/** @type {WeakMap<State, { data: Json, layoutData: Json }[]>} */
const PROPS = new WeakMap();

/**
 * Return the page of `state` inside its layouts, its loading fallback and its error boundaries.
 *
 * Layouts have the key of their module, so they stay mounted from page to page; pages and
 * templates are made anew for another path.
 *
 * @param {State} state
 * @param {Parts} parts
 * @param {((name: string) => Promise<any>) | null} [deferred] of a streamed render
 * @returns {import('react').ReactElement}
 */
export function createTree(state, parts, deferred = null) {
  const { page } = state;
  const { layouts } = page;
  const count = layouts.length;
  const path = pathOf(state.requestedPath);
  const own = layoutProps(state);
  /** @type {import('react').ReactElement} */
  let node = createElement(
    LevelContext,
    { value: count },
    innermost(state, parts, `${page.module} ${path}`, deferred),
  );
  for (let depth = count; depth >= 0; depth -= 1) {
    node = between(state, parts, depth, node);
    if (depth === 0) break;
    const { module, template } = layouts[depth - 1];
    const key = template ? `${module} ${path}` : module;
    const layout = parts.layouts[depth - 1].default;
    node = createElement(
      LevelContext,
      { value: depth - 1 },
      createElement(layout, { ...own[depth - 1], key }, node),
    );
  }
  return node;
}

/**
 * @param {State} state
 * @param {Parts} parts
 * @param {string} key
 * @param {((name: string) => Promise<any>) | null} deferred
 */
function innermost(state, parts, key, deferred) {
  const props = { ...pageProps(state), key };
  if (!state.deferred || deferred === null) return createElement(parts.page.default, props);
  return createElement(Deferred, { component: parts.page.default, props, data: deferred('page') });
}

/**
 * A page whose loader still runs: its loading fallback stands in until then.
 *
 * @param {{
 *   component: import('react').ComponentType<any>,
 *   props: Json,
 *   data: Promise<Json>,
 * }} of
 */
function Deferred({ component, props, data }) {
  const loaded = use(data);
  return createElement(
    DataContext,
    { value: { data: loaded, layoutData: props.layoutData } },
    createElement(component, { ...props, data: loaded }),
  );
}

/**
 * Put what stands inside of the first `depth` layouts around `node`.
 *
 * @param {State} state
 * @param {Parts} parts
 * @param {number} depth
 * @param {import('react').ReactElement} node
 */
function between(state, parts, depth, node) {
  const { loading, boundaries } = state.page;
  let wrapped = node;
  if (loading?.depth === depth && parts.loading !== null) {
    const fallback = createElement(
      LevelContext,
      { value: depth },
      createElement(parts.loading.default),
    );
    wrapped = createElement(Loading, { fallback }, wrapped);
  }
  if (boundaries === undefined) return wrapped;
  for (const boundary of boundaries) {
    if (boundary.depth === depth) {
      wrapped = createElement(PageBoundary, { boundary, state, key: boundary.module }, wrapped);
    }
  }
  return wrapped;
}

/**
 * The boundary of a `loading.fxl`. It has a name that no component of an app can have: renders look
 * for it in the stacks of errors (`../../render/page-errors.js`).
 *
 * @param {import('react').SuspenseProps} props
 */
export function Loading(props) {
  return createElement(Suspense, props);
}
Loading.displayName = 'fx.Loading';

/**
 * Return the properties of the innermost component.
 *
 * @param {State} state
 */
export function pageProps(state) {
  /** @type {Json} */
  const props = {
    data: state.props.data,
    layoutData: state.props.layoutData,
    params: state.params,
  };
  if (state.error !== undefined) props.error = errorOf(state);
  if (state.actionData !== undefined) props.actionData = state.actionData;
  return props;
}

/**
 * Return what an error page is told.
 *
 * @param {State} state
 * @returns {import('../types.js').PageError}
 */
export function errorOf(state) {
  const { error } = state;
  if (typeof error === 'object') return error;
  return {
    message: error ?? '',
    statusCode: state.statusCode,
    type: state.type ?? 'Error',
    data: state.data ?? NOTHING,
    requestId: state.requestId ?? '',
  };
}

/**
 * Return the props of each layout: its own value as `data`, and as `layoutData` that of those
 * around it merged with its own, which is the nearest. The same for the same state.
 *
 * @param {State} state
 * @returns {{ data: Json, layoutData: Json }[]}
 */
export function layoutProps(state) {
  const known = PROPS.get(state);
  if (known !== undefined) return known;
  const { layouts, page, props } = state;
  const all = [];
  let merged = NOTHING;
  for (let index = 0; index < page.layouts.length; index += 1) {
    const mark = layouts[index] ?? null;
    const data = mark === true ? props.layoutData : mark;
    if (data !== null) merged = merged === NOTHING ? data : { ...merged, ...data };
    all.push({ data: data ?? NOTHING, layoutData: merged });
  }
  PROPS.set(state, all);
  return all;
}
