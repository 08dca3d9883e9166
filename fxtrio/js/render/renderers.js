/** The SSR bundle's side: page number and state in, head and HTML out (docs/wire.md). */

import { createElement } from 'react';
import { renderToPipeableStream, renderToString } from 'react-dom/server.node';

import { RouteContext } from '../client/contexts.js';
import { interleave, mergeHead, serializeHead, withoutFallback } from '../client/head.js';
import { RootSplitter } from './splitter.js';
import { createTree } from '../client/tree.js';

/** @typedef {import('../client/types.js').State} State */
/** @typedef {import('../client/types.js').Parts} Parts */
/** @typedef {import('../client/types.js').HeadNode} HeadNode */

/** Around the app, as in the document; React writes hoisted head elements in front of it. */
const ROOT = 'fx-root';
const OPENING = `<div id="${ROOT}">`;
const CLOSING = '</div>';

/**
 * @typedef {object} StreamOptions
 * @property {(head: string) => void} onShellReady `pipe` may be called from then on
 * @property {(error: unknown) => void} [onShellError]
 * @property {(error: unknown) => void} [onError]
 * @property {(name: string) => Promise<unknown>} [deferred] `page`: the data of the page
 */

/**
 * Return the renderers of a bundle.
 *
 * @param {object} options
 * @param {readonly Parts[]} options.views by view id
 * @param {string} options.base URL path that the app is mounted at
 */
export function createRenderers({ views, base }) {
  return {
    /**
     * Render a page at once.
     *
     * @param {number} id of the view
     * @param {State} state
     * @returns {{ head: string, html: string }} `html` is the inside of the root element
     */
    render(id, state) {
      const collected = new Collected();
      const html = renderToString(treeOf(views[id], state, base, collected));
      const start = html.startsWith(OPENING) ? 0 : html.indexOf(OPENING);
      const hoisted = start === 0 ? '' : html.slice(0, start);
      return {
        head: collected.html(state, hoisted) + hoisted,
        html: html.slice(start + OPENING.length, -CLOSING.length),
      };
    },

    /**
     * Render a page in parts. What `pipe` writes begins inside of the root element, and
     * closes it: React's later parts stand behind it.
     *
     * @param {number} id of the view
     * @param {State} state
     * @param {StreamOptions} options
     * @returns {{
     *   pipe: (destination: import('node:stream').Writable) => void,
     *   abort: (reason?: unknown) => void,
     * }}
     */
    stream(id, state, options) {
      const collected = new Collected();
      const splitter = new RootSplitter(OPENING, (hoisted) =>
        options.onShellReady(collected.html(state, hoisted) + hoisted),
      );
      const tree = treeOf(views[id], state, base, collected, options.deferred);
      const rendering = renderToPipeableStream(tree, {
        nonce: state.nonce,
        onShellReady: () => rendering.pipe(splitter),
        onShellError: options.onShellError,
        onError: options.onError,
      });
      return {
        pipe: (destination) => void splitter.pipe(destination),
        abort: (reason) => rendering.abort(reason),
      };
    },
  };
}

/** The `<Head>` elements of one render, by level. */
class Collected {
  /** @type {HeadNode[][]} */
  #levels = [];

  /**
   * @param {number} level
   * @param {HeadNode[]} nodes
   */
  add(level, nodes) {
    (this.#levels[level] ??= []).push(...nodes);
    return () => {};
  }

  /**
   * Return the merged head as HTML.
   *
   * @param {State} state
   * @param {string} hoisted what React adds to it
   */
  html({ head, nonce = '' }, hoisted) {
    if (head.length === 0 && this.#levels.length === 0) return '';
    const nodes = mergeHead(interleave(head, this.#levels));
    return serializeHead(hoisted.includes('<title') ? withoutFallback(nodes) : nodes, nonce);
  }
}

/**
 * @param {Parts} parts
 * @param {State} state
 * @param {string} base
 * @param {Collected} head
 * @param {(name: string) => Promise<unknown>} [deferred]
 */
function treeOf(parts, state, base, head, deferred) {
  const route = { state, parts, base, nonce: state.nonce ?? '', head, runtime: null };
  return createElement(
    'div',
    { id: ROOT },
    createElement(RouteContext, { value: route }, createTree(state, parts, deferred)),
  );
}
