/** A page that waits for something, rendered as a whole: `lazy`, `use` and Suspense. */

import { Writable } from 'node:stream';

import { renderToPipeableStream } from 'react-dom/server.node';

import { endsPage } from './page-errors.js';

/** How long a page may wait (ms). Boundaries that still wait then are left to the browser. */
const LONGEST_MS = 10_000;

/** What React writes in place of a boundary that it has left to the browser. */
const UNFINISHED = '<!--$!-->';

/** Its end. V8 looks for less than seven characters five times as fast: 1.4 against 7.6 µs in 17 kB. */
const UNFINISHED_END = '$!-->';

/** In development, and as React's production code says it. */
const SUSPENDED = /suspended while responding to synchronous input|React error #426\b/;

/**
 * Whether `renderToString` has left something out, since it waits for nothing.
 *
 * @param {string} html
 */
export function isUnfinished(html) {
  return html.includes(UNFINISHED_END) && html.includes(UNFINISHED);
}

/**
 * Whether `renderToString` has thrown because something outside of every boundary waits.
 *
 * @param {unknown} error
 */
export function isSuspension(error) {
  return error instanceof Error && SUSPENDED.test(error.message);
}

/**
 * Render an element when all it waits for has come.
 *
 * @param {import('react').ReactElement} element
 * @param {string | undefined} nonce
 * @param {string} [identifierPrefix] of the ids of `useId`
 * @returns {Promise<{ text: string, hasFailed: boolean }>} HTML; parts of it may stand behind the element,
 *   with scripts that move them to their place. `hasFailed` if boundaries are left to the browser
 */
export function renderWhole(element, nonce, identifierPrefix) {
  /** @type {Uint8Array[]} */
  const parts = [];
  /** @type {unknown[]} of boundaries, in whose place the browser renders */
  const errors = [];
  return new Promise((resolve, reject) => {
    let hasFailed = false;
    let hasTimedOut = false;
    const fail = (/** @type {unknown} */ error) => {
      if (hasFailed) return;
      hasFailed = true;
      clearTimeout(timer);
      reject(error);
      queueMicrotask(() => rendering.abort(error)); // React is in the middle of its work
    };
    const destination = new Writable({
      write(part, _encoding, done) {
        parts.push(part);
        done();
      },
      final(done) {
        for (const error of errors) console.error(error);
        resolve({ text: Buffer.concat(parts).toString('utf8'), hasFailed: errors.length > 0 });
        done();
      },
    });
    const rendering = renderToPipeableStream(element, {
      nonce,
      identifierPrefix,
      progressiveChunkSize: Infinity,
      onAllReady: () => {
        clearTimeout(timer);
        if (!hasFailed) rendering.pipe(destination);
      },
      onShellError: fail,
      onError: (error, info) => {
        if (!hasTimedOut && endsPage(info)) fail(error);
        else errors.push(error);
      },
    });
    const timer = setTimeout(() => {
      hasTimedOut = true;
      rendering.abort(tooLong());
    }, LONGEST_MS);
  });
}

function tooLong() {
  return new Error(
    `The page waited longer than ${LONGEST_MS / 1000} s for a promise that it uses. ` +
      'Load the data in the loader.',
  );
}
