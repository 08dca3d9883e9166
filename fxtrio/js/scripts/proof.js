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
import { codeReasons, isLibrary } from './code.js';
import { ALL, Module } from './module.js';

/** @typedef {import('../check/names.js').Tools} Tools */
/** @typedef {import('../vite/plan.js').Plan} Plan */
/** @typedef {import('../vite/plan.js').ScriptReason} ScriptReason */
/** @typedef {(specifier: string, importer: string) => Promise<string | undefined>} Resolve */

const CODE = /\.(fxl|md|[jt]sx?|m[jt]s)$/;
const ASSET = /\.(avif|bmp|css|gif|ico|jpe?g|json|less|png|s[ac]ss|styl|svg|webp|woff2?)$/;
const QUERY = /^(raw|url|inline|font|(width=\d+&)?picture)$/;

/** Modules of packages that are looked at (count), and the largest of them (bytes). */
const MOST_OF_PACKAGES = 40;
const LARGEST_OF_PACKAGES = 64 * 1024;

/** Conditions under which a package gives servers other code than browsers. */
const DIVIDED = /"(browser|node|worker|workerd|edge-light)"\s*:/;

/**
 * A module and the files that its imports lead to.
 *
 * @typedef {{ module: Module, imports: Map<string, string>, reasons: ScriptReason[] }} Known
 */

export class Proof {
  /** By the path of the file; null for one that cannot be looked at. @type {Map<string, Known | null>} */
  #known = new Map();

  /**
   * @param {Tools} tools
   * @param {Plan} plan
   * @param {Resolve} resolve leads from a specifier to the path of a file
   */
  constructor(tools, plan, resolve) {
    this.tools = tools;
    this.plan = plan;
    this.resolve = resolve;
  }

  /**
   * Return for each view why it needs scripts; nothing for one that is proved to need none.
   *
   * @returns {Promise<ScriptReason[][]>}
   */
  async ofViews() {
    const { plan } = this;
    for (const source of plan.modules) await this.#read(`${plan.root}/${source}`);
    const reasons = new Map(plan.modules.map((source) => [source, this.#closure(source)]));
    return plan.views.map(({ module, layouts }) => {
      const sources = [...layouts.map(([source]) => source), module];
      const all = sources.flatMap((source) => reasons.get(source) ?? []);
      return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
    });
  }

  /**
   * Read a module of the project, and all that it leads to.
   *
   * @param {string} file
   */
  async #read(file) {
    if (this.#known.has(file)) return;
    this.#known.set(file, null);
    const module = this.#parse(file);
    if (module === null) return;
    /** @type {Known} */
    const known = { module, imports: new Map(), reasons: [] };
    this.#known.set(file, known);
    for (const { specifier, place } of importsOf(module)) {
      if (isLibrary(specifier) || isAsset(specifier)) continue;
      /** @param {string} cause */
      const add = (cause) => known.reasons.push({ path: module.path, ...place, cause });
      const found = OF_LIBRARY.test(specifier) ? undefined : await this.resolve(specifier, file);
      if (found === undefined || !CODE.test(found)) {
        add(`an import of '${specifier}'`);
        continue;
      }
      known.imports.set(specifier, found);
      await this.#read(found);
      if (this.#known.get(found) === null) add(`an import of '${specifier}'`);
    }
  }

  /** @param {string} file @returns {Module | null} */
  #parse(file) {
    const { plan } = this;
    const source = path.relative(plan.root, file).split(path.sep).join('/');
    const isPage = isPageFile(file);
    const written = isPage ? path.join(plan.staging, 'ui', `${source}.tsx`) : file;
    const home = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(written)?.[1];
    if (home !== undefined && this.#isTooMuch(written, home)) return null;
    const lang = /\.m?ts$/.test(file) ? 'ts' : /\.(m?js|jsx)$/.test(file) ? 'jsx' : 'tsx';
    const text = fs.readFileSync(written, 'utf8');
    return new Module(this.tools, { path: source, text, lang });
  }

  /**
   * Whether a module of a package is not looked at.
   *
   * @param {string} file
   * @param {string} home of the package
   */
  #isTooMuch(file, home) {
    const read = [...this.#known.keys()].filter((one) => one.includes('/node_modules/'));
    if (read.length > MOST_OF_PACKAGES) return true;
    if (fs.statSync(file).size > LARGEST_OF_PACKAGES) return true;
    return DIVIDED.test(fs.readFileSync(path.join(home, 'package.json'), 'utf8'));
  }

  /**
   * Return the reasons of a page file and of all that it imports.
   *
   * @param {string} source
   * @returns {ScriptReason[]}
   */
  #closure(source) {
    const waiting = [`${this.plan.root}/${source}`];
    const seen = new Set(waiting);
    /** @type {ScriptReason[]} */
    const reasons = [];
    for (const file of waiting) {
      const known = this.#known.get(file);
      if (!known) continue;
      reasons.push(...known.reasons, ...this.#own(file, known));
      for (const next of known.imports.values()) {
        if (!seen.has(next)) waiting.push(next);
        seen.add(next);
      }
    }
    return reasons;
  }

  /** @type {Map<string, ScriptReason[]>} */
  #looked = new Map();

  /**
   * @param {string} file
   * @param {Known} known
   * @returns {ScriptReason[]}
   */
  #own(file, { module }) {
    const before = this.#looked.get(file);
    if (before !== undefined) return before;
    const found = codeReasons(module, (specifier, name) => this.#meaning(file, specifier, name));
    const reasons = found.map(({ node, cause }) => ({
      path: module.path,
      ...module.placeOf(node),
      cause,
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
   * @param {number} [depth] of exports that lead to others
   * @returns {import('./module.js').Meaning}
   */
  #meaning(importer, specifier, name, depth = 0) {
    /** @type {import('./module.js').Meaning} */
    const unknown = { kind: 'unknown' };
    const file = this.#known.get(importer)?.imports.get(specifier);
    const known = file === undefined ? undefined : this.#known.get(file);
    if (!known || file === undefined || name === ALL || depth > 20) return unknown;
    const found = known.module.exports.get(name);
    if (found !== undefined && found.kind !== 'import') return found;
    if (found !== undefined) return this.#meaning(file, found.specifier, found.name, depth + 1);
    for (const passed of known.module.passedOn) {
      const other = this.#meaning(file, passed, name, depth + 1);
      if (other.kind !== 'unknown') return other;
    }
    return unknown;
  }
}

/** Whether a specifier is that of a file without code. @param {string} specifier */
function isAsset(specifier) {
  const [file, query] = specifier.split('?');
  return query === undefined ? ASSET.test(file) : QUERY.test(query);
}

/**
 * @param {Module} module
 * @returns {{ specifier: string, place: { line: number, column: number } }[]}
 */
function importsOf(module) {
  return module.program.body
    .filter((/** @type {any} */ { source }) => typeof source?.value === 'string')
    .map((/** @type {any} */ node) => ({
      specifier: node.source.value,
      place: module.placeOf(node),
    }));
}
