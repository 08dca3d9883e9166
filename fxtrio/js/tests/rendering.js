/** Pages rendered as the worker does it, for tests. */

import { Writable } from 'node:stream';

import { createRenderers } from '../render/renderers.js';
import { makeState } from './states.js';

/**
 * @param {any} page
 * @param {object} [options]
 * @param {any[]} [options.layouts]
 * @param {any} [options.loading]
 * @param {any} [options.slots]
 * @param {string} [options.base]
 */
export function renderers(page, { layouts = [], loading = null, slots, base = '' } = {}) {
  const parts = {
    page: { default: page, slots },
    layouts: layouts.map((component) => ({ default: component })),
    loading: loading && { default: loading },
  };
  return createRenderers({ views: [parts], base });
}

/**
 * @param {any} page
 * @param {Partial<import('../client/types.js').State>} [state]
 * @param {Parameters<typeof renderers>[1]} [options]
 * @returns {any} a promise when something in the page waits
 */
export function render(page, state = {}, options = {}) {
  const { layouts = [] } = options;
  return renderers(page, options).render(0, {
    ...makeState({ layouts: layouts.length }),
    ...state,
  });
}

/**
 * Collect what a stream sends, as the worker does.
 *
 * @param {ReturnType<typeof renderers>} app
 * @param {import('../client/types.js').State} state
 * @param {any} [options]
 */
export function collect(app, state, options = {}) {
  /** @type {string[]} */
  const parts = [];
  return new Promise((resolve, reject) => {
    /** @type {string | null} */
    let head = null;
    const destination = new Writable({
      write(part, _encoding, done) {
        parts.push(part.toString());
        done();
      },
      final(done) {
        resolve({ head, html: parts.join(''), parts });
        done();
      },
    });
    const stream = app.stream(0, state, {
      onShellReady: (/** @type {string} */ html) => {
        head = html;
        queueMicrotask(() => stream.pipe(destination));
      },
      onShellError: reject,
      onError: () => {},
      ...options,
    });
  });
}
