/** Brings islands to life: what their loader has put into `__fx_islands`, and will put there. */

import { Component, createElement } from 'react';
import { hydrateRoot } from 'react-dom/client';

import { IslandContext, RouteContext } from '../../contexts.js';
import { setRuntime } from '../../running.js';
import { loadBase } from '../base/based.js';
import { documentRuntime } from './document.js';

/** @typedef {import('../../contexts.js').Route} Route */
/**
 * What the server has said of an island (`render/islands.js`).
 *
 * @typedef {object} IslandData
 * @property {string} module URL
 * @property {string} name of its export
 * @property {Record<string, unknown>} props
 * @property {string} id begins the ids of `useId`
 * @property {Record<string, string>} [params] of the page
 * @property {string} [base] where the app is mounted, if that is not what it was built for
 */

/** What the components of all islands of a document know. @type {WeakMap<Document, Route>} */
const routes = new WeakMap();

/**
 * @typedef {object} Options
 * @property {string} base URL path that the app was built for
 * @property {Parameters<typeof loadBase>[1]} below loads what only an app needs that is served below
 *   a path
 */

/** @param {Options} options */
export function startIslands(options) {
  const target = /** @type {any} */ (window);
  const hydrate = (/** @type {[HTMLElement, IslandData]} */ one) => void show(...one, options);
  // Pages with scripts may have this code, and no loader; an element of that id is none.
  const waiting = Object.hasOwn(target, '__fx_islands') ? target.__fx_islands : [];
  target.__fx_islands = { push: hydrate };
  waiting.forEach(hydrate);
}

/**
 * @param {HTMLElement} element
 * @param {IslandData} island
 * @param {Options} options
 */
async function show(element, island, { base: built, below }) {
  const { module, name, props, id, params = {}, base = built } = island;
  const report = (/** @type {unknown} */ error) => console.error(`<Island> of ${module}:`, error);
  try {
    await loadBase(base, below);
    const component = (await import(/* @vite-ignore */ module))[name];
    const route = routes.get(document) ?? routeOf(base, params);
    routes.set(document, route);
    const inside = createElement(HtmlFallback, { element }, createElement(component, props));
    const alone = createElement(IslandContext, { value: true }, inside);
    hydrateRoot(element, createElement(RouteContext, { value: route }, alone), {
      identifierPrefix: id,
      onCaughtError: report,
      onRecoverableError: report,
    });
    element.dataset.fxIsland = '';
  } catch (error) {
    report(error);
  }
}

/**
 * Return what the components of islands know of the page: its URL.
 *
 * @param {string} base
 * @param {Record<string, string>} params
 * @returns {Route}
 */
function routeOf(base, params) {
  const nonce = document.querySelector('script')?.nonce ?? '';
  const runtime = documentRuntime(window, base, nonce);
  setRuntime(document, runtime);
  const state = {
    requestedPath: `${location.pathname}${location.search}`,
    params,
    page: { scripts: false, layouts: [] },
    props: { data: {}, layoutData: {} },
  };
  const head = { add: () => () => {} }; // the server has put its elements there
  const parts = { page: {}, layouts: [], loading: null };
  const known = { state, parts, base, nonce, head, inserted: null, runtime };
  return /** @type {any} */ (known);
}

/**
 * Keeps the HTML of an island whose component has thrown: what was shown before.
 *
 * @extends {Component<
 *   { element: HTMLElement, children?: import('react').ReactNode },
 *   { hasFailed: boolean }
 * >}
 */
class HtmlFallback extends Component {
  state = { hasFailed: false };
  #html = '';

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  /** React has taken its elements away by now. */
  componentDidCatch() {
    this.props.element.innerHTML = this.#html;
  }

  /** @returns {import('react').ReactNode} */
  render() {
    if (!this.state.hasFailed) return this.props.children;
    this.#html ||= this.props.element.innerHTML; // React changes elements after all renders
    return null;
  }
}
