/** Which page files and views the app has at the moment. */

import fs from 'node:fs';
import path from 'node:path';

import { clientOf } from '../vite/assets.js';
import { CLIENT_ENTRY } from '../vite/entries.js';
import { pageFileOf } from '../vite/page-file.js';

/** @typedef {import('../vite/plan.js').Plan} Plan */

/** Files are told apart by time stamps, so there is one build for as long as `fx dev` runs. */
const BUILD = 'development';

/** How long the server process may take to use a plan (ms). */
const FORMER_MS = 60_000;

/** The id of a page file's module ends so: it is no file, so that no rule for files meets it. */
const ENDING = '.tsx';

export class Site {
  /** @type {Set<string>} sources of page files */
  sources = new Set();
  /** @type {string[]} those that the plan before did not have */
  added = [];
  /** @type {string[]} URLs of what each page loads */
  preload = [];
  /** Resolves with the first plan: whoever asks before waits. */
  planned;
  #isPlanned = () => {};
  /** @type {Plan['views']} */
  #views = [];
  /** The views before the last plan: the server process learns of a plan somewhat later. */
  #former = { views: /** @type {Plan['views']} */ ([]), until: 0 };
  /** @type {Map<string, string>} the last text of each page file that was right, by source */
  #right = new Map();
  #root;
  #base;
  #folder;

  /** @param {import('./settings.js').Settings} settings */
  constructor({ root, base, folder }) {
    this.#root = root;
    this.#base = base;
    this.#folder = folder;
    this.planned = new Promise((resolve) => {
      this.#isPlanned = () => resolve(undefined);
    });
  }

  /**
   * Take over what the app consists of, and describe it as a build does (`Result` of a plan).
   *
   * @param {Plan} plan
   */
  plan(plan) {
    this.#take(plan);
    return this.#described(plan, plan.views);
  }

  /**
   * Take over what has come: `views` stand behind those that are there, of which there are `from`.
   *
   * @param {Pick<Plan, 'modules' | 'views'> & { from: number }} more `modules` are all there are
   * @returns {object} the same of these views; `known` is false where others are there
   */
  add({ modules, views, from }) {
    if (from !== this.#views.length) return { known: false };
    const plan = { modules, views: [...this.#views, ...views] };
    this.#take(plan);
    return { known: true, ...this.#described(plan, views) };
  }

  /** @param {Pick<Plan, 'modules' | 'views'>} plan */
  #take({ modules, views }) {
    this.added = modules.filter((source) => !this.sources.has(source));
    this.sources = new Set(modules);
    for (const source of this.#right.keys()) if (!this.sources.has(source)) this.forget(source);
    this.#former = { views: this.#views, until: performance.now() + FORMER_MS };
    this.#views = views;
    this.#isPlanned();
  }

  /**
   * @param {Pick<Plan, 'modules' | 'views'>} plan
   * @param {Plan['views']} views of the plan, whose clients are returned
   * @returns {import('../vite/plan.js').Described}
   */
  #described(plan, views) {
    const module = `${this.#base}@id/__x00__${CLIENT_ENTRY}`;
    const entry = { module, css: [], preload: this.preload };
    /** @type {Record<string, import('../vite/plan.js').FileAssets>} */
    const files = {};
    for (const source of plan.modules) {
      files[source] = { module: this.urlOf(source), css: [], preload: [] };
    }
    const assets = { entry, files };
    const clients = views.map((view) => clientOf(view, plan, assets, BUILD));
    // Nobody asks for the files: pages load their modules by their views, and so do renders.
    return { ok: true, buildId: BUILD, server: '', entry, files: {}, clients, warnings: [] };
  }

  /** @param {number} id */
  viewAt(id) {
    return this.#views.at(id);
  }

  /**
   * Return a view; while another plan takes the place of one, the one that the state is of.
   *
   * @param {number} id
   * @param {() => { page: { module: string, layouts: { module: string }[] } }} state
   */
  viewOf(id, state) {
    if (performance.now() < this.#former.until) {
      const { page } = state();
      const isMeant = (/** @type {Plan['views'][number] | undefined} */ view) =>
        view !== undefined &&
        this.urlOf(view.module) === page.module &&
        view.layouts.length === page.layouts.length &&
        view.layouts.every(([one], index) => this.urlOf(one) === page.layouts[index].module);
      const meant = [this.#views[id], this.#former.views[id]].find(isMeant);
      if (meant !== undefined) return meant;
    }
    return this.#views[id];
  }

  /** @param {string} source */
  urlOf(source) {
    // Vite leaves `%40` as it is, so that `@` must stand for itself.
    return `${this.#base}${encodeURI(`${source}${ENDING}`)}`;
  }

  /** @param {string} source */
  idOf(source) {
    return `${this.#root}/${source}${ENDING}`;
  }

  /**
   * Return the id of what a URL below the project names.
   *
   * @param {string} path
   */
  rooted(path) {
    return `${this.#root}${path}`;
  }

  /**
   * Return the page file of a module, or null when it is another module.
   *
   * @param {string} id
   */
  sourceOf(id) {
    if (pageFileOf(id) === id || !id.startsWith(`${this.#root}/`)) return null;
    const source = id.slice(this.#root.length + 1, -ENDING.length);
    return this.sources.has(source) ? source : null;
  }

  /** @param {string} source */
  stagedAt(source) {
    return path.join(this.#folder, 'ui', `${source}.tsx`);
  }

  /**
   * Return the client half of a page file: while its newest text is broken, the one before. The
   * disk may have it somewhat later; it tells of a page of which nobody has told anything yet.
   *
   * @param {string} source
   */
  textOf(source) {
    const right = this.#right.get(source);
    if (right !== undefined) return right;
    const text = fs.readFileSync(this.stagedAt(source), 'utf8');
    this.#right.set(source, text);
    return text;
  }

  /**
   * Take over a new text of a page file that can be a module.
   *
   * @param {string} source
   * @param {string} text
   */
  setRight(source, text) {
    this.#right.set(source, text);
  }

  /** @param {string} source a page file that is gone */
  forget(source) {
    this.#right.delete(source);
  }
}
