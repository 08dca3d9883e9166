/** Files that have changed → what browsers and renders learn of it. */

import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';

/** @typedef {{ type: 'change' | 'add' | 'unlink', file: string }} Change */
/** @typedef {import('./settings.js').Shown} Shown */

/** Longest wait for Vite to act on one file (ms). */
const LONGEST_MS = 2000;

const CODE = /\.(m?[jt]sx?|fxl)$/;

export class Changes {
  /** @type {Map<string, Shown>} syntax that the parser has refused, by file */
  #broken = new Map();
  #server;
  #site;
  #browsers;
  #vite;
  #settled;

  /**
   * @param {import('vite').ViteDevServer} server
   * @param {import('./site.js').Site} site
   * @param {import('./browsers.js').Browsers} browsers
   * @param {typeof import('vite')} vite
   * @param {import('node:events').EventEmitter} settled emits `told` after each change
   */
  constructor(server, site, browsers, vite, settled) {
    this.#server = server;
    this.#site = site;
    this.#browsers = browsers;
    this.#vite = vite;
    this.#settled = settled;
  }

  /**
   * Act on changes, page files (`ui`, by source) and others (`files`). Browsers learn of `data`
   * first: it says whose loaders have changed, so that they show both at once.
   *
   * @param {{ ui: Change[], files: Change[], data: { sources: string[] | null } | null }} changes
   *   `sources` null stands for all pages; `data` null when no loader has changed
   * @returns {Promise<{ problems: Shown[] }>} what does not parse, in all files
   */
  async apply({ ui, files, data }) {
    const good = await this.#parsed(ui);
    if (data !== null) {
      const known = good.filter(({ type }) => type === 'change'); // others are on no screen
      const expected = known.map(({ file }) => this.#site.urlOf(file));
      this.#browsers.announce('fx:data', {
        sources: data.sources?.map(this.#urlOf) ?? null,
        expected,
      });
    }
    for (const { type, file } of good) await this.#emitPage(type, this.#site.idOf(file));
    for (const { type, file } of await this.#parsed(files)) await this.#emit(type, file);
    const problems = [...this.#broken.values()];
    this.#browsers.setProblems('syntax', problems);
    return { problems };
  }

  #urlOf = (/** @type {string} */ source) => this.#site.urlOf(source);

  /**
   * Return the changes of files that parse, or are no code; remember what is wrong with others.
   *
   * @param {Change[]} changes
   */
  async #parsed(changes) {
    const good = [];
    for (const change of changes) {
      const broken = change.type === 'unlink' ? null : await this.#problemOf(change.file);
      if (broken === null) {
        this.#broken.delete(change.file);
        good.push(change);
      } else this.#broken.set(change.file, broken);
    }
    return good;
  }

  /**
   * @param {string} file the source of a page file, or an absolute path
   * @returns {Promise<Shown | null>}
   */
  async #problemOf(file) {
    if (!CODE.test(file)) return null;
    const staged = file.endsWith('.fxl') ? this.#site.stagedAt(file) : file;
    const text = await fs.readFile(staged, 'utf8').catch(() => null);
    if (text === null) return null;
    const { errors } = this.#vite.parseSync(staged, text, {
      lang: /\.m?ts$/.test(staged) ? 'ts' : 'tsx',
    });
    if (errors.length === 0) return null;
    const [{ message, labels }] = errors;
    const offset = labels?.[0]?.start ?? 0;
    const before = text.slice(0, offset).split('\n');
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    const shown = path.isAbsolute(file) ? file : this.#site.idOf(file).replace(/\.tsx$/, '');
    return {
      title: 'This does not parse',
      message,
      file: shown,
      line,
      column,
      frame: frameOf(text, line, column),
    };
  }

  /**
   * A page that is gone is nobody's any more; one that is there again is a new text.
   *
   * @param {Change['type']} type
   * @param {string} id
   */
  async #emitPage(type, id) {
    if (type === 'change') return this.#emit(type, id);
    let known = false;
    for (const { moduleGraph } of Object.values(this.#server.environments)) {
      for (const module of moduleGraph.getModulesByFile(id) ?? []) {
        moduleGraph.invalidateModule(module);
        known = true;
      }
    }
    if (known && type === 'add') await this.#emit('change', id);
  }

  /**
   * Tell Vite of a change, and wait until it has told the browsers.
   *
   * @param {Change['type']} type
   * @param {string} file
   */
  async #emit(type, file) {
    const told = once(this.#settled, 'told', { signal: AbortSignal.timeout(LONGEST_MS) });
    this.#server.watcher.emit(type, file);
    await told.catch(() => {}); // Vite has nothing to do with the file
  }
}

/**
 * Return the lines around a place, numbered, with a mark below the column.
 *
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
export function frameOf(text, line, column) {
  const lines = text.split('\n');
  const shown = [];
  for (
    let number = Math.max(1, line - 2);
    number <= Math.min(lines.length, line + 2);
    number += 1
  ) {
    shown.push(`${String(number).padStart(4)} | ${lines[number - 1]}`);
    if (number === line) shown.push(`     | ${' '.repeat(column - 1)}^`);
  }
  return shown.join('\n');
}
