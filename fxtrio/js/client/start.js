/** Where the browser begins: the page state is read, the rendered page comes to life. */

import { createElement } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from './app.js';
import { createRuntime } from './runtime.js';
import { setRuntime } from './running.js';

/** Ids of the element that holds the state, and of the one that the app is rendered into. */
const STATE = '__fx_data';
const ROOT = 'fx-root';

/**
 * Bring the page of this document to life. Does nothing in a document without a page state.
 *
 * @param {object} options
 * @param {string} options.base URL path that the app is mounted at; "" for the root
 */
export async function start({ base }) {
  const data = document.getElementById(STATE);
  const root = document.getElementById(ROOT);
  if (data === null || root === null) return;
  const state = JSON.parse(data.textContent ?? '');
  if (!state.page) return;
  if (state.actionData !== undefined) {
    // A form without JavaScript has left its action's URL in the address bar.
    history.replaceState(history.state, '', `${state.requestedPath}${location.hash}`);
  }
  /** @param {string} url */
  const importModule = (url) => import(/* @vite-ignore */ url);
  const rendered = root.firstChild !== null;
  const runtime = createRuntime({ window, state, base, rendered, importModule });
  setRuntime(document, runtime);
  const parts = await runtime.modules.load(state.page);
  const app = createElement(App, { runtime, initial: { state, parts } });
  if (rendered) hydrateRoot(root, app);
  else createRoot(root).render(app); // the server could not
}
