/**
 * Which views need no scripts: the code of none of their modules can do anything in a browser that the
 * HTML does not do by itself.
 *
 * All that a view imports is looked at (`code.js`). A view that is not proved gets its scripts, so a
 * reason too many costs bytes, and never a page that does not work.
 */

import fs from 'node:fs';
import path from 'node:path';

import { OF_LIBRARY } from '../worker/library.js';
import { isPageFile } from '../vite/page-file.js';
import { codeReasons } from './code.js';
import { Divided } from './divided.js';
import { namesOfElements } from './element-types/names.js';
import { islandReasons } from './islands/code.js';
import { islandsOf } from './islands/islands.js';
import { ALL, isLibrary, Module } from './module.js';
import { reasonsAcross } from './nesting/across.js';

/** @typedef {import('../check/names.js').Tools} Tools */
/** @typedef {import('../vite/plan.js').Plan} Plan */
/** @typedef {import('../vite/plan.js').IslandProblem} IslandProblem */
/** @typedef {import('../vite/plan.js').ScriptReason} ScriptReason */
/** @typedef {(specifier: string, importer: string) => Promise<string | undefined>} Resolve */

const CODE = /\.(fxl|md|[jt]sx?|m[jt]s)$/;
const ASSET = /\.(avif|bmp|css|gif|ico|jpe?g|json|less|png|s[ac]ss|styl|svg|webp|woff2?)$/;
const QUERY = /^(raw|url|inline|font|(width=\d+&)?picture)$/;

/** Modules of packages that are looked at (count), and the largest of them (bytes). */
const MOST_OF_PACKAGES = 40;
const LARGEST_OF_PACKAGES = 64 * 1024;

/**
 * A module and the files that its imports lead to; those of which only islands show something are
 * not among `imports`, since pages do not load them.
 *
 * @typedef {object} Known
 * @property {Module} module
 * @property {Map<string, string>} imports
 * @property {Map<string, string>} inIslands
 * @property {ScriptReason[]} reasons
 * @property {Island[]} islands
 */
/** A reason in the code of a module. @typedef {ScriptReason & { ofIslands: boolean }} Own */
/**
 * An island: its place, the file and the name of its component, and when it is loaded.
 *
 * @typedef {{ path: string, line: number, column: number, file: string, name: string, when: string }} Island
 */
/**
 * What a view is made of: why it needs scripts, its islands, and what these lack.
 *
 * @typedef {object} Proved
 * @property {ScriptReason[]} reasons
 * @property {Island[]} islands
 * @property {IslandProblem[]} mistakes in the code of islands, which does not work there
 * @property {IslandProblem[]} doubts about it
 */

export class Proof {
  /** By the path of the file; null for one that cannot be looked at. @type {Map<string, Known | null>} */
  #known = new Map();
  #divided;

  /**
   * @param {Tools} tools
   * @param {Plan} plan
   * @param {Resolve} resolve leads from a specifier to the path of a file
   */
  constructor(tools, plan, resolve) {
    this.tools = tools;
    this.plan = plan;
    this.resolve = resolve;
    this.#divided = new Divided(plan.root);
  }

  /**
   * Return for each view why it needs scripts; nothing for one that is proved to need none.
   *
   * @returns {Promise<ScriptReason[][]>}
   */
  async ofViews() {
    return (await this.proved()).map(({ reasons }) => reasons);
  }

  /**
   * Return what is proved of each view.
   *
   * @returns {Promise<Proved[]>}
   */
  async proved() {
    const { plan } = this;
    for (const source of plan.modules) await this.#read(`${plan.root}/${source}`);
    const files = new Map(plan.modules.map((source) => [source, this.#filesOf(source)]));
    const islands = [...this.#known.values()].flatMap((known) => known?.islands ?? []);
    for (const { file } of islands) await this.#read(file, true); // after all that pages load
    return plan.views.map(({ module, layouts }) => {
      const sources = [...layouts.map(([source]) => source), module];
      const all = [...new Set(sources.flatMap((source) => files.get(source) ?? []))];
      const known = all.flatMap((file) => this.#known.get(file) ?? []);
      const inView = known.flatMap((one) => one.islands);
      const reasons = all.flatMap((file) => this.#reasonsOf(file, inView.length > 0));
      return { reasons: unique(reasons), islands: inView, ...islandReasons(this, all, inView) };
    });
  }

  /**
   * Return a module that has been read.
   *
   * @param {string} file
   */
  knownOf(file) {
    return this.#known.get(file) ?? undefined;
  }

  /**
   * Read a module of the project, and all that it leads to.
   *
   * @param {string} file
   * @param {boolean} [isOfIsland] whether only islands need it: packages are not looked at then
   */
  async #read(file, isOfIsland = false) {
    if (this.#known.has(file) || (isOfIsland && file.includes('/node_modules/'))) return;
    this.#known.set(file, null);
    const module = this.#parse(file);
    if (module === null) return;
    /** @type {Known} */
    const known = { module, imports: new Map(), inIslands: new Map(), reasons: [], islands: [] };
    this.#known.set(file, known);
    const { sites } = islandsOf(module.program, (name) => module.importOf(name));
    const alone = isOfIsland ? new Set() : onlyInIslands(module, sites);
    for (const node of importsOf(module)) {
      const specifier = node.source.value;
      if (isLibrary(specifier) || isAsset(specifier)) continue;
      /** @param {string} cause */
      const add = (cause) =>
        known.reasons.push({ path: module.path, ...module.placeOf(node), cause });
      const found = OF_LIBRARY.test(specifier) ? undefined : await this.resolve(specifier, file);
      if (found === undefined || !CODE.test(found)) {
        add(`an import of '${specifier}'`);
        continue;
      }
      for (const { element, name, when } of sites.filter((one) => one.specifier === specifier)) {
        const at = { path: module.path, ...module.placeOf(element) };
        known.islands.push({ ...at, file: found, name, when });
      }
      known.inIslands.set(specifier, found);
      if (alone.has(specifier)) continue;
      if (this.#divided.isBetween(specifier, found, file)) {
        add(`an import of '${specifier}'`);
        continue;
      }
      known.imports.set(specifier, found);
      await this.#read(found, isOfIsland);
      if (this.#known.get(found) === null) add(`an import of '${specifier}'`);
    }
  }

  /** @param {string} file @returns {Module | null} */
  #parse(file) {
    const { plan } = this;
    const source = path.relative(plan.root, file).split(path.sep).join('/');
    const isPage = isPageFile(file);
    const written = isPage ? path.join(plan.staging, 'ui', `${source}.tsx`) : file;
    if (written.includes('/node_modules/') && this.#isTooMuch(written)) return null;
    const lang = /\.m?ts$/.test(file) ? 'ts' : /\.(m?js|jsx)$/.test(file) ? 'jsx' : 'tsx';
    const text = fs.readFileSync(written, 'utf8');
    return new Module(this.tools, { path: source, text, lang });
  }

  /**
   * Whether a module of a package is not looked at.
   *
   * @param {string} file
   */
  #isTooMuch(file) {
    const read = [...this.#known.keys()].filter((one) => one.includes('/node_modules/'));
    return read.length > MOST_OF_PACKAGES || fs.statSync(file).size > LARGEST_OF_PACKAGES;
  }

  /**
   * Return the files of a page file and of all that it imports.
   *
   * @param {string} source
   */
  #filesOf(source) {
    return this.filesFrom(`${this.plan.root}/${source}`);
  }

  /**
   * Return a file, and all that it leads to.
   *
   * @param {string} file
   * @returns {string[]}
   */
  filesFrom(file) {
    const files = new Set([file]);
    for (const one of files) {
      for (const next of this.#known.get(one)?.imports.values() ?? []) files.add(next);
    }
    return [...files];
  }

  /**
   * @param {string} file
   * @param {boolean} hasIslands whether its view shows any
   * @returns {ScriptReason[]}
   */
  #reasonsOf(file, hasIslands) {
    const known = this.#known.get(file);
    if (!known) return [];
    const own = this.#own(file, known).filter(({ ofIslands }) => hasIslands || !ofIslands);
    this.#across ??= reasonsAcross(this, this.#known, this.plan);
    return [
      ...known.reasons,
      ...(this.#across.get(file) ?? []),
      ...own.map(({ path, line, column, cause }) => ({ path, line, column, cause })),
    ];
  }

  /** Found when it is needed first. @type {Map<string, ScriptReason[]> | undefined} */
  #across;

  /** Found when it is needed first. @type {ReturnType<import('./element-types/names.js').Names> | undefined} */
  #elements;

  #namesOfElements() {
    const modules = [...this.#known.values()].flatMap((known) => known?.module ?? []);
    this.#elements ??= namesOfElements(modules);
    return this.#elements;
  }

  /** @type {Map<string, Own[]>} */
  #looked = new Map();

  /**
   * @param {string} file
   * @param {Known} known
   * @returns {Own[]}
   */
  #own(file, { module }) {
    const before = this.#looked.get(file);
    if (before !== undefined) return before;
    const found = codeReasons(
      module,
      (specifier, name) => this.#meaning(file, specifier, name),
      () => this.#namesOfElements(),
    );
    const reasons = found.map(({ node, cause, ofIslands = false }) => ({
      path: module.path,
      ...module.placeOf(node),
      cause,
      ofIslands,
    }));
    this.#looked.set(file, reasons);
    return reasons;
  }

  /**
   * Return what a module exports under a name, in whichever module it is declared.
   *
   * @param {string} importer
   * @param {string} specifier
   * @param {string} name
   * @returns {import('./module.js').Meaning}
   */
  #meaning(importer, specifier, name) {
    return this.declared(importer, specifier, name).meaning;
  }

  /**
   * Return what a module exports under a name, and which module declares it under which name.
   *
   * @param {string} importer
   * @param {string} specifier
   * @param {string} name
   * @param {number} [depth] of exports that lead to others
   * @returns {{ meaning: import('./module.js').Meaning, file: string, name: string }}
   */
  declared(importer, specifier, name, depth = 0) {
    /** @type {{ meaning: import('./module.js').Meaning, file: string, name: string }} */
    const unknown = { meaning: { kind: 'unknown' }, file: '', name };
    const { imports, inIslands } = this.#known.get(importer) ?? {};
    const file = imports?.get(specifier) ?? inIslands?.get(specifier);
    const known = file === undefined ? undefined : this.#known.get(file);
    if (!known || file === undefined || name === ALL || depth > 20) return unknown;
    const meaning = known.module.exports.get(name);
    if (meaning !== undefined && meaning.kind !== 'import') return { meaning, file, name };
    if (meaning !== undefined) {
      return this.declared(file, meaning.specifier, meaning.name, depth + 1);
    }
    for (const passed of known.module.passedOn) {
      const other = this.declared(file, passed, name, depth + 1);
      if (other.file !== '') return other;
    }
    return unknown;
  }
}

/** @param {ScriptReason[]} reasons */
function unique(reasons) {
  return [...new Map(reasons.map((one) => [JSON.stringify(one), one])).values()];
}

/**
 * Return the modules of which a module shows components in islands, and nothing anywhere else.
 *
 * @param {Module} module
 * @param {import('./islands/islands.js').Site[]} sites
 * @returns {Set<string>} specifiers
 */
function onlyInIslands(module, sites) {
  const tags = new Set(sites.map(({ tag }) => tag.name));
  const alone = new Set(sites.map(({ specifier }) => specifier));
  for (const node of module.program.body) {
    if (!alone.has(node.source?.value)) continue;
    const isOnlyInside =
      node.type === 'ImportDeclaration' &&
      node.specifiers.length > 0 &&
      node.specifiers.every((/** @type {any} */ { local }) =>
        module
          .variableOf(local)
          ?.references.every((/** @type {any} */ { identifier }) => tags.has(identifier)),
      );
    if (!isOnlyInside) alone.delete(node.source.value);
  }
  return alone;
}

/** Whether a specifier is that of a file without code. @param {string} specifier */
function isAsset(specifier) {
  const [file, query] = specifier.split('?');
  return query === undefined ? ASSET.test(file) : QUERY.test(query);
}

/**
 * Return the statements of a module that import from another one.
 *
 * @param {Module} module
 * @returns {any[]}
 */
function importsOf(module) {
  return module.program.body.filter(
    (/** @type {any} */ { source }) => typeof source?.value === 'string',
  );
}
