/** The app that runs in a document: what `navigate` and the like act on. */

/** @typedef {import('./runtime.js').Runtime} Runtime */

/** One app for each document. @type {WeakMap<object, Runtime>} */
const runtimes = new WeakMap();

/**
 * @param {object} document
 * @param {Runtime} runtime
 */
export function setRuntime(document, runtime) {
  runtimes.set(document, runtime);
}

/**
 * Return the app that runs in this document.
 *
 * @param {string} caller the function that asks
 * @returns {Runtime}
 */
export function runningApp(caller) {
  const runtime = typeof document === 'undefined' ? undefined : runtimes.get(document);
  if (runtime === undefined) {
    throw new Error(`${caller}: works only in the browser, in an effect or an event handler.`);
  }
  return runtime;
}
