/** The SSR bundle's side: page number and state in, head and HTML out (docs/wire.md). */

import { randomUUID } from 'node:crypto';

import { createElement } from 'react';
import { renderToPipeableStream, renderToString } from 'react-dom/server.node';

import { RouteContext } from '../client/contexts.js';
import { interleave, mergeHead, serializeHead, withoutTitles } from '../client/head/head.js';
import { Inserted } from './inserted.js';
import { RenderedIslands } from './islands.js';
import { movedFrom, same } from './mounted.js';
import { endsPage } from './page-errors.js';
import { cutRoot, joinRoot, STAND_IN, withNonce } from './root.js';
import { withNeeds } from './set-html.js';
import { RootSplitter } from './splitter.js';
import { bindPromises } from '../client/view/promises.js';
import { createTree } from '../client/view/tree.js';
import { isSuspension, isUnfinished, renderWhole } from './whole.js';

/** @typedef {import('../client/types.js').State} State */
/** @typedef {import('../client/types.js').Parts} Parts */
/** @typedef {import('../client/types.js').HeadNode} HeadNode */

/**
 * Around the app in a stream; React writes hoisted head elements in front of it. The document has
 * an opening tag of its own: nothing that an app writes can be taken for this one.
 */
const ROOT = `fx-root-${randomUUID()}`;
const OPENING = `<div id="${ROOT}">`;

/** @typedef {{ head: string, html: string }} Rendered */

/**
 * @typedef {object} StreamOptions
 * @property {(head: string) => void} onShellReady `pipe` may be called from then on
 * @property {(error: unknown) => void} [onShellError]
 * @property {(error: unknown, endsPage: boolean) => void} [onError] an error in whose place
 *   browsers render; `endsPage` says that they render the whole page, see `page-errors.js`
 * @property {(name: string) => Promise<unknown>} [deferred] `page`: the data of the page; else
 *   one of the `promises` of the state
 */

/**
 * Return the renderers of a bundle.
 *
 * @param {object} options
 * @param {readonly Parts[]} options.views by view id
 * @param {string} options.base URL path that the app was built for
 */
export function createRenderers({ views, base }) {
  /** @type {Set<number>} views that have waited for something before */
  const waiting = new Set();

  return {
    /**
     * Render a page at once, unless something in it waits.
     *
     * @param {number} id of the view
     * @param {State} state
     * @returns {Rendered | Promise<Rendered>} `html` is the inside of the root element
     */
    render: withNeeds((id, state) => {
      if (!waiting.has(id)) {
        const collected = new Collected(state);
        const text = renderNow(wholeTree(views[id], state, base, collected));
        if (text !== null) return divide(text, state, collected, base, state.nonce);
        waiting.add(id);
      }
      const collected = new Collected(state);
      const tree = wholeTree(views[id], state, base, collected);
      return renderWhole(tree, state.nonce).then(({ text, hasFailed }) => {
        // HTML that an element is given may look like what React leaves out: nothing waits for it.
        if (!hasFailed && isUnfinished(text)) waiting.delete(id);
        return divide(text, state, collected, base);
      });
    }),

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
      const move = movedFrom(base, state);
      const splitter = new RootSplitter(
        OPENING,
        (hoisted) => {
          const inserted = collected.inserted.html();
          options.onShellReady(move(collected.html(state, hoisted) + hoisted + inserted));
        },
        () => collected.inserted.html(),
        { joined: state.promises !== undefined, change: move === same ? undefined : move },
      );
      const app = appOf(views[id], state, base, collected, options.deferred);
      const tree = createElement('div', { id: ROOT }, app);
      const rendering = renderToPipeableStream(tree, {
        nonce: state.nonce,
        onShellReady: () => rendering.pipe(splitter),
        onShellError: options.onShellError,
        onError: (error, info) => options.onError?.(error, endsPage(info)),
      });
      return {
        pipe: (destination) => void splitter.pipe(destination),
        abort: (reason) => rendering.abort(reason),
      };
    },
  };
}

/**
 * @param {string} text what React has written
 * @param {State} state
 * @param {Collected} collected
 * @param {string} base URL path that the app was built for
 * @param {string} [nonce] for what has none yet
 * @returns {Rendered | Promise<Rendered>}
 */
function divide(text, state, collected, base, nonce = '') {
  const move = movedFrom(base, state);
  const { islands, route } = collected;
  /** @param {import('./islands.js').Cut} cut */
  const done = ({ hoisted, inside, behind }) => {
    const head = move(collected.html(state, hoisted)) + hoisted + move(collected.inserted.html());
    return { head, html: joinRoot(inside, withNonce(behind, nonce)) };
  };
  const cut = cutRoot(move(text));
  if (islands === null || route === null) return done(cut);
  const filled = islands.fill(cut, route, (element, prefix) => {
    const now = renderNow(element, prefix);
    return now === null
      ? renderWhole(element, state.nonce, prefix).then((whole) => move(whole.text))
      : move(now);
  });
  return filled instanceof Promise ? filled.then(done) : done(filled);
}

/** What the components of one render give away: `<Head>` elements by level, HTML, and islands. */
class Collected {
  inserted = new Inserted();
  /** @type {import('../client/contexts.js').Route | null} what the components know of the page */
  route = null;
  /** Only of pages without scripts. */
  islands;
  /** @type {HeadNode[][]} */
  #levels = [];

  /** @param {State} [state] of a page that is rendered at once */
  constructor(state) {
    const { islands, scripts } = state?.page ?? {};
    this.islands =
      state !== undefined && islands !== undefined && scripts === false
        ? new RenderedIslands(state)
        : null;
  }

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
    return serializeHead(hoisted.includes('<title') ? withoutTitles(nodes) : nodes, nonce);
  }
}

/**
 * Return the HTML of an element; null when something in it waits.
 *
 * @param {import('react').ReactElement} element
 * @param {string} [identifierPrefix] of the ids of `useId`
 * @returns {string | null}
 */
function renderNow(element, identifierPrefix) {
  try {
    const text = renderToString(element, { identifierPrefix });
    return isUnfinished(text) ? null : text;
  } catch (error) {
    if (isSuspension(error)) return null;
    throw error;
  }
}

/**
 * @param {Parts} parts
 * @param {State} state
 * @param {string} base
 * @param {Collected} head
 */
function wholeTree(parts, state, base, head) {
  return createElement(STAND_IN, null, appOf(parts, state, base, head));
}

/**
 * @param {Parts} parts
 * @param {State} state
 * @param {string} base
 * @param {Collected} head
 * @param {(name: string) => Promise<unknown>} [deferred]
 */
function appOf(parts, state, base, head, deferred) {
  const mounted = state.page?.base ?? base;
  const server = { inserted: head.inserted, runtime: null };
  bindPromises(state, deferred);
  const { islands } = head;
  const route = { state, parts, base: mounted, nonce: state.nonce ?? '', head, islands, ...server };
  head.route = route;
  return createElement(RouteContext, { value: route }, createTree(state, parts, deferred));
}
