/**
 * The islands of a page without scripts: each is rendered alone, as browsers hydrate it, when the
 * page around it is there.
 */

import { createHash, randomUUID } from 'node:crypto';

import { createElement } from 'react';

import { IslandContext, LevelContext, RouteContext } from '../client/contexts.js';
import { nameOf } from '../client/view/islands/json.js';
import { keysOf } from '../client/view/islands/registry.js';
import { cutRoot, STAND_IN, withLastTitle } from './root.js';

/** @typedef {import('../client/view/islands/island.js').Child} Child */
/** @typedef {import('../client/types.js').State} State */
/** @typedef {import('../client/contexts.js').Route} Route */
/** @typedef {{ hoisted: string, inside: string, behind: string }} Cut */

/** Stands for the HTML of an island, and for what marks its element. No page knows it. */
const MARK = randomUUID();
const MARKS = new RegExp(`<!--${MARK} (\\d+)-->`, 'g');

/** Of the element that tells browsers of the islands (`serve/pages/html/islands.js`). */
const DATA_ID = '__fx_given';

const NOTHING = Object.freeze({});
const NO_PARTS = Object.freeze({ page: NOTHING, layouts: [], loading: null });

/** Collects the islands of one render. */
export class RenderedIslands {
  /** @type {import('react').ReactElement[]} */
  #found = [];
  /** What browsers are told of each. @type {object[]} */
  #data = [];
  #state;

  /** @param {State} state of a page without scripts */
  constructor(state) {
    this.#state = state;
  }

  /**
   * @param {Child} child
   * @param {import('../client/view/islands/island.js').When} when
   */
  add(child, when) {
    const { page, params } = this.#state;
    const key = keysOf(child.type).find((one) => page.islands?.[one] !== undefined);
    if (key === undefined) {
      throw new Error(
        `<Island>: the build has found no component <${nameOf(child.type)}> in an <Island>. ` +
          'Import it from a separate file, and write it as the child.',
      );
    }
    const [module, ...preload] = /** @type {any} */ (page.islands)[key];
    const number = this.#found.length;
    const props = JSON.stringify(child.props);
    this.#found.push(createElement(child.type, JSON.parse(props)));
    this.#data.push({
      when,
      module,
      name: key.slice(key.lastIndexOf('#') + 1),
      id: idOf(number),
      props: JSON.parse(props),
      ...(preload.length > 0 && { preload }),
      ...(Object.keys(params ?? NOTHING).length > 0 && { params }),
      ...(page.base !== undefined && { base: page.base }),
    });
    return {
      'data-fx-island': `${MARK}${number}`,
      dangerouslySetInnerHTML: { __html: `<!--${MARK} ${number}-->` },
    };
  }

  /**
   * Put the HTML of all islands into a page.
   *
   * @param {Cut} cut
   * @param {Route} route of the page
   * @param {(element: import('react').ReactElement, prefix: string) => string | Promise<string>} render
   * @returns {Cut | Promise<Cut>}
   */
  fill(cut, route, render) {
    if (this.#found.length === 0) return cut;
    const state = { ...this.#state, props: { data: NOTHING, layoutData: NOTHING } };
    const own = { ...route, state, parts: NO_PARTS, islands: null };
    const texts = this.#found.map((child, number) =>
      render(treeOf(child, /** @type {any} */ (own)), idOf(number)),
    );
    const isPending = texts.some((one) => typeof one !== 'string');
    return isPending
      ? Promise.all(texts).then((all) => joined(cut, all, this.#data))
      : joined(cut, /** @type {string[]} */ (texts), this.#data);
  }
}

/** @param {number} number of an island in its page */
function idOf(number) {
  return `i${number}-`;
}

/**
 * @param {import('react').ReactElement} child
 * @param {Route} route
 */
function treeOf(child, route) {
  const alone = createElement(IslandContext, { value: true }, child);
  const level = route.state.page.layouts.length;
  const levelled = createElement(LevelContext, { value: level }, alone);
  return createElement(STAND_IN, null, createElement(RouteContext, { value: route }, levelled));
}

/**
 * @param {Cut} cut
 * @param {string[]} texts of the islands
 * @param {object[]} data what browsers are told of them
 * @returns {Cut}
 */
function joined({ hoisted, inside, behind }, texts, data) {
  const parts = texts.map(cutRoot);
  const whole = inside.replace(MARKS, (_, number) => parts[Number(number)].inside);
  const [marked, mark] = withMark(whole);
  const json = JSON.stringify({ mark, islands: data }).replaceAll('<', '\\u003c');
  const script = `<script type="application/json" id="${DATA_ID}">${json}</script>`;
  return {
    hoisted: withLastTitle(hoisted + parts.map((one) => one.hoisted).join('')),
    inside: marked,
    // React's script for forms is the same in each.
    behind: [...new Set([behind, ...parts.map((one) => one.behind), script])].join(''),
  };
}

/**
 * Return HTML whose elements of islands are marked, and the mark: a digest of the HTML, which HTML
 * of users in it cannot know. It is the same each time, as pages that do not change are.
 *
 * @param {string} html
 * @returns {[html: string, mark: string]}
 */
function withMark(html) {
  const parts = html.split(MARK);
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const mark = `${hash.digest('base64url').slice(0, 22)}-`;
  return [parts.join(mark), mark];
}
