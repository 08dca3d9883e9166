/** Renders views from the modules that Vite has at the moment: what a build's SSR bundle does. */

import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { baseOf, CLIENT_ENTRY } from '../vite/entries.js';
import { explainedConfiguration } from '../vite/problems.js';
import { importedPackages } from './packages/discovery.js';
import { importedUrls } from './updates/graph.js';

/** @typedef {import('vite').EnvironmentModuleNode} Node */
/** @typedef {import('../vite/plan.js').Plan['views'][number]} View */

/** New page files at once whose modules are made before browsers ask for them. */
const MOST_PREPARED = 8;

/** How often a view is loaded again at most: packages may be met one after the other. */
const MOST_RELOADS = 10;

/** Views whose page modules stay loaded. Others are loaded again when they are rendered. */
const MOST_LOADED = 40;

/** What names the version of a module in its URL. */
const VERSION = /\?t=\d+$/;

/** Vite's code of an error: bundled packages have been replaced since a module asked for them. */
const OUTDATED = 'ERR_OUTDATED_OPTIMIZED_DEP';

/** @param {string} source of a page file, whose module Vite knows by this URL */
const urlOf = (source) => `/${source}.tsx`;

export class Views {
  /** @type {Map<string, number>} by what a view consists of */
  #slots = new Map();
  /** @type {any[]} by slot: what was loaded last */
  #parts = [];
  /** @type {Map<number, string>} sources of the pages that are loaded, by slot, last used last */
  #loaded = new Map();
  /** @type {string[]} by slot: elements for its stylesheets, and the modules that it needs */
  #styles = [];
  /**
   * Settled when the modules have been made that documents name so far: browsers may not load
   * them before.
   *
   * @type {Promise<unknown>}
   */
  prepared = Promise.resolve();
  /**
   * Versions of modules that could not be transformed for browsers: others are tried again.
   *
   * @type {WeakMap<Node, number>}
   */
  #failed = new WeakMap();
  /** Vite's own client, until it is made: it is known by the path of its file. */
  #toPrepare = ['/@vite/client'];
  #renderers;
  #settings;
  #site;
  #server;
  #vite;
  #runner;
  /** Which bundled packages the modules of the runner have. @type {string | undefined} */
  #known;

  /**
   * @param {import('./settings.js').Settings} settings
   * @param {import('./site.js').Site} site
   * @param {Awaited<ReturnType<typeof import('./server.js').makeServer>>} started
   */
  constructor(settings, site, { vite, runner, server, serverRuntime }) {
    this.#settings = settings;
    this.#site = site;
    this.#server = server;
    this.#vite = vite;
    const base = baseOf(/** @type {any} */ (settings));
    this.#renderers = serverRuntime.createRenderers({ views: this.#parts, base });
    this.#runner = new runner.ModuleRunner({
      transport: vite.createServerModuleRunnerTransport({ channel: server.environments.ssr.hot }),
      hmr: false, // a module is looked for anew before each render
      sourcemapInterceptor: 'prepareStackTrace',
      createImportMeta: (file) => importMeta(file, runner),
    });
  }

  /**
   * Load what a view needs.
   *
   * @param {number} id as the server process knows it
   * @param {() => any} state that it is to show
   * @returns {Promise<number>} what `render` and `stream` take: the same for the same view,
   *   whatever its id becomes
   */
  async load(id, state) {
    await this.#site.planned;
    const view = this.#site.viewOf(id, state);
    if (view === undefined) throw new Error(`There is no view ${id}.`);
    try {
      return await this.#load(view);
    } catch (error) {
      const { root, folder } = this.#settings;
      throw explainedConfiguration(error, { root, staging: folder });
    }
  }

  /**
   * Load a view, and once more when Vite has bundled packages anew meanwhile: what was loaded
   * before has copies of them that the rest does not know.
   *
   * @param {View} view
   */
  async #load(view) {
    for (let left = MOST_RELOADS; ; left -= 1) {
      const bundled = this.#bundled();
      if (bundled !== this.#known) this.#runner.clearCache();
      this.#known = bundled;
      try {
        const slot = await this.#loadOnce(view);
        if (left === 0 || this.#bundled() === bundled) return slot;
      } catch (error) {
        const isOld = /** @type {any} */ (error)?.code === OUTDATED;
        if (left === 0 || (!isOld && this.#bundled() === bundled)) throw error;
        this.#known = undefined;
      }
    }
  }

  /** Return what changes when bundled packages cannot be used together with those of before. */
  #bundled() {
    return this.#server.environments.ssr.depsOptimizer?.metadata.browserHash;
  }

  /** @param {View} view */
  async #loadOnce({ module, layouts, loading }) {
    const key = JSON.stringify([module, layouts, loading]);
    const slot = this.#slots.get(key) ?? this.#slots.size;
    this.#slots.set(key, slot);
    const load = (/** @type {string} */ source) => this.#runner.import(this.#site.idOf(source));
    const [page, around, fallback] = await Promise.all([
      load(module),
      Promise.all(layouts.map(([source]) => load(source))),
      loading === null ? null : load(loading),
    ]);
    const sources = [...layouts.map(([source]) => source), module];
    const imported = this.#importedBy(sources);
    this.#styles[slot] = (await this.#stylesOf(sources)) + this.#linksTo(imported);
    this.#prepareModules([...sources.map(urlOf), ...imported]);
    this.#parts[slot] = { page, layouts: around, loading: fallback };
    this.#loaded.delete(slot);
    this.#loaded.set(slot, module);
    this.#releaseOldest();
    return slot;
  }

  /**
   * Release what only pages need that were rendered longest ago. What they import stays: others
   * may share it, and its state.
   */
  #releaseOldest() {
    for (const [slot, source] of this.#loaded) {
      if (this.#loaded.size <= MOST_LOADED) return;
      this.#loaded.delete(slot);
      delete this.#parts[slot];
      delete this.#styles[slot];
      if ([...this.#loaded.values()].includes(source)) continue;
      const id = this.#site.idOf(source);
      const { moduleGraph } = this.#server.environments.ssr;
      const node = moduleGraph.getModuleById(id);
      if (node !== undefined) moduleGraph.invalidateModule(node);
      const evaluated = this.#runner.evaluatedModules.getModuleById(id);
      if (evaluated !== undefined) this.#runner.evaluatedModules.invalidateModule(evaluated);
    }
  }

  /**
   * @param {number} id
   * @param {any} state
   */
  render(id, state) {
    const styles = this.#styles[id];
    const styled = (/** @type {{ head: string, html: string }} */ { head, html }) => ({
      head: head + styles,
      html,
    });
    const rendered = this.#renderers.render(id, state);
    return rendered instanceof Promise ? rendered.then(styled) : styled(rendered);
  }

  /**
   * @param {number} id
   * @param {any} state
   * @param {any} options
   */
  stream(id, state, options) {
    const styles = this.#styles[id];
    return this.#renderers.stream(id, state, {
      ...options,
      onShellReady: (/** @type {string} */ head) => options.onShellReady(head + styles),
    });
  }

  /**
   * Prepare pages before anybody asks for them: the first one at once, the others when nobody
   * waits for it any more.
   *
   * @param {readonly number[]} ids
   * @param {{ busy: () => void, quiet: Promise<unknown> }} waits `busy` begins to wait for `quiet`
   */
  async warm(ids, { busy, quiet }) {
    const [first, ...others] = ids.map((id) => this.#site.viewAt(id));
    const load = (/** @type {View} */ view) => this.#load(view).catch(() => {}); // whoever asks is told
    if (first !== undefined) await load(first);
    busy();
    await quiet;
    for (const view of others) {
      // Packages are bundled when a page needs them: that is for the first page only.
      if (view !== undefined && !(await this.#needsPackages(view))) await load(view);
    }
    return {};
  }

  /**
   * Make what a browser loads for a page while the document is on its way to it.
   *
   * @param {readonly string[]} modules of page files, and what they import
   */
  #prepareModules(modules) {
    const { client } = this.#server.environments;
    const moduleOf = (/** @type {string} */ url) =>
      client.moduleGraph.urlToModuleMap.get(url.replace(VERSION, ''));
    const urls = [`\0${CLIENT_ENTRY}`, ...this.#toPrepare, ...modules].filter((url) => {
      const module = moduleOf(url);
      return (
        !module?.transformResult && !(module && this.#failed.get(module) === versionOf(module))
      );
    });
    this.#toPrepare = [];
    if (urls.length === 0) return;
    const warmUp = async (/** @type {string} */ url) => {
      await client.warmupRequest(url); // whoever asks is told what is wrong
      const module = moduleOf(url);
      if (module && !module.transformResult) this.#failed.set(module, versionOf(module));
    };
    const warmup = setImmediate().then(() => Promise.all(urls.map(warmUp))); // the document comes first
    this.prepared = Promise.all([this.prepared, warmup]).then(() => {}); // keeps no earlier one
  }

  /** @param {View} view */
  async #needsPackages({ module, layouts }) {
    const sources = [module, ...layouts.map(([source]) => source)];
    const project = { root: this.#settings.root, site: this.#site, parse: this.#vite.parseSync };
    return (await importedPackages(sources, project)).size > 0;
  }

  /**
   * Make modules of page files before browsers ask for them.
   *
   * @param {readonly string[]} sources
   */
  prepare(sources) {
    const { client } = this.#server.environments;
    for (const source of sources.slice(0, MOST_PREPARED)) {
      void client.warmupRequest(urlOf(source)); // whoever asks is told what is wrong
    }
  }

  /**
   * Return the stylesheets that modules import, as elements that Vite's client takes over.
   *
   * @param {readonly string[]} sources
   */
  async #stylesOf(sources) {
    const graph = this.#server.environments.ssr.moduleGraph;
    /** @type {Set<Node>} */
    const seen = new Set();
    /** @type {Node[]} */
    const found = [];
    const visit = (/** @type {Node | undefined} */ node) => {
      if (node === undefined || seen.has(node)) return;
      seen.add(node);
      for (const next of node.importedModules) visit(next);
      const plain = !/[?&](inline|raw|url)\b/.test(node.url);
      // Without an id it is no module: what a stylesheet imports is in that one's text.
      if (node.id && node.file && plain && this.#vite.isCSSRequest(node.url)) found.push(node);
    };
    for (const source of sources) visit(graph.getModuleById(this.#site.idOf(source)));
    const texts = await Promise.all(found.map((node) => this.#styleOf(node)));
    return texts.join('');
  }

  /**
   * Return the URLs of the modules that page files import.
   *
   * @param {readonly string[]} sources
   */
  #importedBy(sources) {
    const { client, ssr } = this.#server.environments;
    const pages = sources.map((source) => ssr.moduleGraph.getModuleById(this.#site.idOf(source)));
    return importedUrls(pages, client.moduleGraph, this.#settings.root);
  }

  /**
   * Return elements that name modules for browsers to load at once.
   *
   * @param {readonly string[]} urls
   */
  #linksTo(urls) {
    const base = baseOf(/** @type {any} */ (this.#settings));
    return urls.map((url) => `<link rel="modulepreload" href="${base}/_fx${url}">`).join('');
  }

  /** @param {Node} node */
  async #styleOf({ url, id, file }) {
    if (file === null || !fs.existsSync(file)) return '';
    const { default: text } = await this.#runner.import(
      `${url}${url.includes('?') ? '&' : '?'}inline`,
    );
    const name = String(id).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const safe = String(text).replaceAll('</', '<\\/');
    return `<style type="text/css" data-vite-dev-id="${name}">${safe}</style>`;
  }
}

/**
 * Return what changes when a module is to be transformed again.
 *
 * @param {Node} module
 */
function versionOf({ lastHMRTimestamp, lastInvalidationTimestamp }) {
  return Math.max(lastHMRTimestamp, lastInvalidationTimestamp);
}

/**
 * Return `import.meta` of a module. Its `resolve` is made when it is asked for: with it comes a
 * thread, which takes longer to start than a page to render.
 *
 * @param {string} file
 * @param {typeof import('vite/module-runner')} runner
 */
function importMeta(file, { createDefaultImportMeta, createNodeImportMeta }) {
  return {
    ...createDefaultImportMeta(file),
    main: false,
    resolve: (/** @type {string} */ id, /** @type {string | undefined} */ parent) =>
      createNodeImportMeta(file).resolve(id, parent),
  };
}
