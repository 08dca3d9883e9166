/** Where the browser begins: the page state is read, the rendered page comes to life. */

import { createElement } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from './app.js';
import { loadBase } from './view/base/based.js';
import { createRuntime } from './runtime.js';
import { bindPromises, Promises } from './view/promises.js';
import { pagePath } from './navigation/urls.js';
import { setRuntime } from './running.js';

/**
 * The element that holds the state, and the id of the one that the app is rendered into. HTML of
 * users may have the same id, and stands in front of the state; sanitizers leave no script in it.
 */
const STATE = 'script#__fx_data';
const ROOT = 'fx-root';

/** How much later than promised a value may come, and how long a document may grow no more (ms). */
const PATIENCE_MS = 5000;

/**
 * Bring the page of this document to life. Does nothing in a document without a page state.
 *
 * @param {object} options
 * @param {string} options.base URL path that the app was built for; "" for the root. A page
 *   that is served below another path says so itself.
 * @param {Parameters<typeof loadBase>[1]} options.below loads what only an app needs that is served
 *   below a path
 * @param {Parameters<typeof createRuntime>[0]['visits']} options.visits
 * @param {(url: string) => Promise<import('./types.js').Module>} [options.importModule]
 * @param {import('react-dom/client').HydrationOptions} [options.react] told to React
 * @returns {Promise<import('./runtime.js').Runtime | null>} null without a page state
 */
export async function start({ base, below, visits, importModule = importUrl, react = {} }) {
  const data = document.querySelector(STATE);
  const root = document.getElementById(ROOT);
  if (data === null || root === null) return null;
  const state = JSON.parse(data.textContent ?? '');
  if (!state.page) return null;
  if (state.promises !== undefined) bindPromises(state, promisesOf(document, state.within ?? 0).of);
  if (state.document !== undefined) state.stops = [() => leave(state, base)];
  if (state.actionData !== undefined) {
    // A form without JavaScript has left its action's URL in the address bar.
    history.replaceState(history.state, '', `${state.requestedPath}${location.hash}`);
  }
  const rendered = root.firstChild !== null;
  const mounted = state.page.base ?? base;
  await loadBase(mounted, below);
  const parts = { window, state, base: mounted, rendered, importModule, visits };
  const runtime = createRuntime(parts);
  setRuntime(document, runtime);
  const view = { state, parts: await runtime.modules.load(state.page) };
  const app = createElement(App, { runtime, initial: view });
  // A file is the same for all queries, and `404.html` for all paths.
  const requestedPath = pagePath(location);
  if (state.page.exported && requestedPath !== state.requestedPath) {
    runtime.screen.replace({ ...view, state: { ...state, requestedPath } });
  }
  if (rendered) hydrateRoot(root, app, react);
  else createRoot(root, react).render(app); // the server could not
  return runtime;
}

/**
 * Take the deferred values that scripts of a document have brought, and will bring.
 *
 * Chromium neither ends nor reports a document whose response was cut. So one that does not grow
 * any more when all values should have come is taken for lost.
 *
 * @param {Document} document
 * @param {number} within the time in which the server sends them (seconds)
 */
function promisesOf(document, within) {
  const promises = new Promises();
  const global = /** @type {any} */ (document.defaultView);
  // An element of that id is not the window's own.
  const come = Object.hasOwn(global, '__fx_values') ? global.__fx_values : [];
  for (const entry of come) promises.settle(entry);
  global.__fx_values = { push: promises.settle };
  if (document.readyState !== 'loading') {
    promises.end();
    return promises;
  }
  let size = 0;
  const check = () => {
    const before = size;
    size = sizeOf(document);
    if (size > before) {
      timer = setTimeout(check, PATIENCE_MS);
      return;
    }
    promises.end();
    showLostParts(document);
  };
  let timer = setTimeout(check, within * 1000);
  const complete = () => {
    clearTimeout(timer);
    promises.end();
  };
  document.addEventListener('DOMContentLoaded', complete, { once: true });
  return promises;
}

/**
 * Let React render the parts that the server has not sent, as its own script does for one whose
 * render has failed: until the document is complete it waits for those that are marked `$?`.
 *
 * @param {Document} document
 */
function showLostParts(document) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
  const waiting = [];
  while (walker.nextNode()) {
    const comment = /** @type {Comment} */ (walker.currentNode);
    if (comment.data === '$?') waiting.push(comment);
  }
  for (const comment of waiting) {
    comment.data = '$!';
    /** @type {any} */ (comment)._reactRetry?.();
  }
}

/**
 * How far a document has come that is being sent: the script that arrives grows, too.
 *
 * @param {Document} document
 */
function sizeOf({ body }) {
  return body.childNodes.length + (body.lastChild?.textContent?.length ?? 0);
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
