/** The app in a browser during development: updates are shown without a reload. */

import * as React from 'react';

// @ts-expect-error it is the React plug-in's, and has no types
import { performReactRefresh } from '/@react-refresh';
import { watchChange } from './changed.js';
import { latest, listeners } from './latest.js';
import { Overlay } from './overlay.js';
import { OwnRequests } from './own-requests.js';
import { standing, timingOfDocument, whenReplaced } from './socket.js';
import { Updates } from './updates.js';
import { isUnfetched, versions } from './versions.js';

/** @typedef {{ number?: number, updates: { acceptedPath: string }[] }} Told message of updates */
/** @typedef {{ sources: string[], atOnce: boolean }} Swapped message of new server halves */

/** When hydration is over (ms); until then what is printed is looked at. */
const HYDRATED_MS = 5000;

/**
 * Start the app, and follow what `fx dev` says.
 *
 * @param {object} options
 * @param {string} options.base URL path that the app is mounted at
 * @param {typeof import('../../client/start.js').start} options.start
 * @param {Parameters<typeof import('../../client/start.js').start>[0]['below']} options.below
 * @param {Parameters<typeof import('../../client/start.js').start>[0]['visits']} options.visits
 * @param {any} options.hot of the entry: the events of Vite
 * @param {string} options.root absolute path of the project
 * @param {string} options.editor URL that opens a place in an editor
 * @param {boolean} options.covers whether what fails covers the page
 */
export async function develop({ base, start, below, visits, hot, root, editor, covers }) {
  const overlay = new Overlay(document, editor, covers);
  overlay.root = root;
  overlay.timings = `${base}/__fx/timings`;
  const page = pageOf(document);
  let currentPage = () => page;
  overlay.concerns = (file) => isOfPage(file, currentPage());
  showMistakes(overlay, hot);
  const requests = new OwnRequests(window, overlay, hot);
  const importer = makeImporter(`${base}/_fx/`);
  const react = reporting(overlay);
  watchAttributes(overlay);
  const report = (/** @type {string} */ change) => hot.send('fx:changed', { ...page, change });
  const compare = watchChange(document, hot, report);
  let runtime;
  try {
    const importModule = /** @type {any} */ (importer.load);
    runtime = await start({ base, below, visits, importModule, react });
    importer.end();
  } catch (error) {
    reloadAtChange(overlay, hot);
    throw error;
  }
  if (runtime === null) {
    reloadAtChange(overlay, hot);
    performance.mark('fx:ready');
    return;
  }
  currentPage = () => runtime.screen.view?.state.page ?? page;
  runtime.router.subscribe(() => overlay.draw()); // another page has files of its own
  const updates = new Updates({ runtime, overlay, refresh: performReactRefresh });
  follow({ base, updates, requests, hot });
  compare();
  performance.mark('fx:ready');
}

/**
 * Return what React calls with errors.
 *
 * @param {Overlay} overlay
 */
function reporting(overlay) {
  const thrown = (/** @type {unknown} */ error) => overlay.thrown(error);
  return {
    onUncaughtError: thrown,
    onCaughtError: thrown,
    onRecoverableError: (/** @type {any} */ error, /** @type {any} */ info) =>
      overlay.thrown(error, { ...info, ownerStack: ownerStack() }),
  };
}

/**
 * Return what imports page modules. Until it is told by `end` that the document has all of its
 * own, they are those that it has preloaded. What a link preloads later may have changed by the
 * time that its page is shown: under another URL it is loaded anew. That URL has the version that
 * was told last, as the text is at least as new.
 *
 * @param {string} folder what the URLs of modules begin with
 */
function makeImporter(folder) {
  /** @type {Map<string, string>} by the URL of a page file what it was loaded with */
  const loaded = new Map();
  let isStarting = true;
  const nameOf = (/** @type {string} */ url) => {
    const announced = versions.announcedOf(`/${decodeURI(url.slice(folder.length))}`);
    return isStarting ? url : `${url}?import${announced > 0 ? `&t=${announced}` : ''}`;
  };
  return {
    load: async (/** @type {string} */ url) => {
      if (latest.has(url)) return latest.get(url);
      const named = loaded.get(url) ?? nameOf(url);
      const module = await import(/* @vite-ignore */ named);
      loaded.set(url, named); // what has failed under one URL is not tried again by browsers
      return latest.get(url) ?? module;
    },
    end: () => {
      isStarting = false;
    },
  };
}

/**
 * Show what `fx dev` says has changed.
 *
 * @param {object} app
 * @param {string} app.base
 * @param {Updates} app.updates
 * @param {OwnRequests} app.requests
 * @param {any} app.hot
 */
function follow({ base, updates, requests, hot }) {
  listeners.add((url, module) => updates.addModule(url, module));
  hot.on('fx:swapped', (/** @type {Swapped} */ { sources, atOnce }) => {
    requests.replaced();
    const urls = sources.map((source) => `${base}/_fx/${encodeURI(`${source}.tsx`)}`);
    updates.loadAhead(urls, { atOnce });
  });
  hot.on('fx:data', (/** @type {any} */ data) => {
    requests.forget();
    updates.addData(data);
  });
  hot.on('vite:error', () => updates.addFailure());
  hot.on('vite:afterUpdate', () => updates.addComponents());
  hot.on('fx:settled', () => updates.settle());
  const retell = (/** @type {string} */ url) =>
    hot.send('fx:unloaded', { url, number: 0, version: versions.newestOf(url) });
  whenReplaced(() => {
    updates.addData({ sources: null, expected: [] });
    versions.unloaded.forEach(retell); // they may have been asked of the process before
  });
  tellAge(hot);
  versions.reportOld(retell);
}

/**
 * Reload a page about an error, or one that has not come to life, at the next thing that happens:
 * that may have put it right.
 *
 * @param {Overlay} overlay
 * @param {any} hot
 */
function reloadAtChange(overlay, hot) {
  const reload = () => location.reload();
  for (const event of ['vite:beforeUpdate', 'fx:data', 'fx:settled']) hot.on(event, reload);
  hot.on('fx:problems', (/** @type {any[]} */ problems) => {
    if (problems.length === 0 && overlay.hadStanding) reload();
  });
  whenReplaced(reload);
  tellAge(hot);
}

/**
 * Return the page that a document was loaded with; undefined for one that the server has not made
 * of a page.
 *
 * @param {Document} document
 * @returns {import('../../client/types.js').PageInfo | undefined}
 */
function pageOf(document) {
  return JSON.parse(document.querySelector('script#__fx_data')?.textContent || '{}').page;
}

/**
 * Whether a file is one that a page is made of; of modules it is not known.
 *
 * @param {string} file
 * @param {import('../../client/types.js').PageInfo | undefined} page
 */
function isOfPage(file, page) {
  if (page === undefined || !/\.(fxl|md)$/.test(file)) return true;
  const { module, layouts, loading, boundaries = [] } = page;
  const parts = [{ module }, ...layouts, ...(loading ? [loading] : []), ...boundaries];
  return parts.some((part) => {
    const source = decodeURI(part.module)
      .replace(/^.*?\/_fx\//, '/')
      .replace(/\.tsx$/, '');
    return file.endsWith(source);
  });
}

/**
 * Show what is thrown, and what is said to be wrong.
 *
 * @param {Overlay} overlay
 * @param {any} hot
 */
function showMistakes(overlay, hot) {
  window.addEventListener('error', ({ error, message }) => overlay.thrown(error ?? message));
  window.addEventListener('unhandledrejection', ({ reason }) => overlay.thrown(reason));
  hot.on('fx:problems', (/** @type {any[]} */ problems) => overlay.setStanding(problems));
  overlay.setStanding(standing.problems);
  hot.on('fx:swapped', () => overlay.replaced());
  hot.on('vite:error', (/** @type {any} */ { err }) => overlay.couldNotCompile(err));
  hot.on('vite:beforeUpdate', () => overlay.clearThrown());
  hot.on('fx:settled', () => overlay.clearElsewhere());
  hot.on('vite:afterUpdate', (/** @type {Told} */ { number = 0, updates }) => {
    overlay.clearThrown(); // data that has come meanwhile was shown by the code before
    for (const { acceptedPath } of updates) overlay.loaded(acceptedPath);
    for (const { path, error } of versions.takeFailures()) {
      if (!isUnfetched(error)) overlay.unloaded(path, error);
      hot.send('fx:unloaded', { url: path, number });
    }
  });
  hot.on('vite:beforePrune', (/** @type {{ paths: string[] }} */ { paths }) => {
    for (const url of paths) overlay.loaded(url);
    versions.forget(paths);
  });
  hot.on('fx:located', (/** @type {any} */ located) => overlay.located(located));
  overlay.ask = (id, stack) => hot.send('fx:thrown', { id, stack });
}

/**
 * Ask for what has changed since this document was: nobody has listened until now. Only where no
 * time of the server is known, its age counts, which grows on the way to `fx dev`.
 *
 * @param {any} hot
 */
function tellAge(hot) {
  const requestedAt = timingOfDocument('fx-asked');
  if (requestedAt !== undefined) {
    hot.send('fx:loaded', { asked: Number(requestedAt) });
    return;
  }
  const [entry] = performance.getEntriesByType('navigation');
  const { requestStart } = /** @type {PerformanceNavigationTiming} */ (entry);
  hot.send('fx:loaded', { age: performance.now() - requestStart });
}

/**
 * Return where the element that React speaks of was written, and who rendered that component: the
 * stack of an error has React's own code alone, and a component stack has no place for components
 * that React cannot make throw.
 */
function ownerStack() {
  const { captureOwnerStack } = /** @type {any} */ (React); // since React 19.1
  return captureOwnerStack?.() ?? '';
}

/**
 * Show attributes that differ between server and browser: React prints them, and that is all.
 *
 * @param {Overlay} overlay
 */
function watchAttributes(overlay) {
  const plain = console.error;
  const end = () => {
    if (console.error === watching) console.error = plain; // others may have put theirs before it
  };
  const watching = (/** @type {unknown[]} */ ...said) => {
    plain(...said);
    if (!/^A tree hydrated but/.test(String(said[0]))) return;
    end();
    const [text, ...values] = said.map(String);
    const error = new Error(text.replace(/%s/g, () => values.shift() ?? ''));
    overlay.thrown(error, { ownerStack: ownerStack() });
  };
  console.error = watching;
  setTimeout(end, HYDRATED_MS);
}
