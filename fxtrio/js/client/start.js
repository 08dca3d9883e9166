/** Where the browser begins: the page state is read, the rendered page comes to life. */

import { createElement } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from './app.js';
import { createRuntime } from './runtime.js';
import { bindPromises, Promises } from './view/promises.js';
import { setRuntime } from './running.js';

/** Ids of the element that holds the state, and of the one that the app is rendered into. */
const STATE = '__fx_data';
const ROOT = 'fx-root';

/**
 * Bring the page of this document to life. Does nothing in a document without a page state.
 *
 * @param {object} options
 * @param {string} options.base URL path that the app was built for; "" for the root. A page
 *   that is served below another path says so itself.
 * @param {(url: string) => Promise<import('./types.js').Module>} [options.importModule]
 * @param {import('react-dom/client').HydrationOptions} [options.react] told to React
 * @returns {Promise<import('./runtime.js').Runtime | null>} null without a page state
 */
export async function start({ base, importModule = importUrl, react = {} }) {
  const data = document.getElementById(STATE);
  const root = document.getElementById(ROOT);
  if (data === null || root === null) return null;
  const state = JSON.parse(data.textContent ?? '');
  if (!state.page) return null;
  if (state.promises !== undefined) bindPromises(state, promisesOf(document).of);
  if (state.document !== undefined) state.stops = [() => leave(state, base)];
  if (state.actionData !== undefined) {
    // A form without JavaScript has left its action's URL in the address bar.
    history.replaceState(history.state, '', `${state.requestedPath}${location.hash}`);
  }
  const rendered = root.firstChild !== null;
  const runtime = createRuntime({
    window,
    state,
    base: state.page.base ?? base,
    rendered,
    importModule,
  });
  setRuntime(document, runtime);
  const parts = await runtime.modules.load(state.page);
  const app = createElement(App, { runtime, initial: { state, parts } });
  if (rendered) hydrateRoot(root, app, react);
  else createRoot(root, react).render(app); // the server could not
  return runtime;
}

/**
 * Take the deferred values that scripts of a document have brought, and will bring.
 *
 * @param {Document} document
 */
function promisesOf(document) {
  const promises = new Promises();
  const global = /** @type {any} */ (document.defaultView);
  for (const entry of global.__fx_values ?? []) promises.settle(entry);
  global.__fx_values = { push: promises.settle };
  if (document.readyState !== 'loading') promises.end();
  else document.addEventListener('DOMContentLoaded', () => promises.end(), { once: true });
  return promises;
}

/**
 * Let the server cancel the deferred values of a document that still come. Nothing in a browser
 * ends the response of a document that stays open, without requests of the next page.
 *
 * @param {import('./types.js').State} state
 * @param {string} base
 */
function leave({ page, document: id }, base) {
  if (document.readyState !== 'loading') return;
  navigator.sendBeacon(`${page.base ?? base}/api/__leave?${id}`);
}

/** @param {string} url */
function importUrl(url) {
  return import(/* @vite-ignore */ url);
}
