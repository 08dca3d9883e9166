/** Places in what browsers run → places in the files of the project. */

import fs from 'node:fs';
import { SourceMap } from 'node:module';

import { pageFileOf } from '../vite/page-file.js';
import { Level, writeLog } from '../worker/log.cjs';
import { mismatchOf } from './browser/mismatch.js';
import { frameOf } from './updates/frame.js';

/** A place in a stack of a browser: path, line and column, both from 1. Paths may have brackets. */
const PLACE = /https?:\/\/[^/\s]+(\/[^\s?]+?)(?:\?\S*?)?:(\d+):(\d+)/g;

/** What a terminal obeys: control characters, and those that turn the direction of text. */
// eslint-disable-next-line no-control-regex
const UNPRINTABLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** @param {string} text */
const printable = (text) =>
  text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Answers browsers that tell what their code has thrown; the terminal gets it too. */
export class Places {
  #base;
  #client;
  #site;

  /**
   * @param {import('./settings.js').Settings} settings
   * @param {import('./site.js').Site} site
   * @param {import('vite').ViteDevServer} server
   * @param {import('./browsers.js').Browsers} browsers
   */
  constructor({ base }, site, server, browsers) {
    this.#site = site;
    this.#base = base;
    this.#client = server.environments.client;
    browsers.on(
      'fx:thrown',
      async (/** @type {any} */ { id, stack }, /** @type {any} */ client) => {
        const { place, text } = await this.locate(String(stack).slice(0, 20_000));
        writeLog(Level.ERROR, `In the browser: ${printable(this.summary(place, text))}`);
        client.send({ type: 'custom', event: 'fx:located', data: { id, ...place, stack: text } });
      },
    );
  }

  /**
   * Return a stack with places in files, and the first of them that is the project's.
   *
   * @param {string} stack
   */
  async locate(stack) {
    const paths = new Set([...stack.matchAll(PLACE)].map(([, path]) => path));
    await Promise.all([...paths].map((path) => this.#mapped(path)));
    /** @type {{ file: string, line: number, column: number, frame: string } | null} */
    let first = null;
    const lines = stack.split('\n').map((line) => {
      let own = !line.includes('/node_modules/') && !line.includes('/.fx/');
      const mapped = line.replace(PLACE, (whole, path, row, column) => {
        const found = this.#original(path, Number(row), Number(column));
        if (found === null) {
          own = false;
          return whole;
        }
        if (own && first === null) first = { ...found, frame: this.#frameIn(found) };
        return `${found.file}:${found.line}:${found.column}`;
      });
      return { mapped, isShared: own || !/^\s+at |@https?:/.test(line) };
    });
    const text = lines.filter(({ isShared }) => isShared).map(({ mapped }) => mapped);
    const place = first ?? { file: '', line: 0, column: 0, frame: '' };
    return { place, text: text.join('\n').trim() };
  }

  /**
   * Return what the terminal prints: of a mismatch one line, where React writes some forty.
   *
   * @param {{ file: string, line: number, column: number }} place
   * @param {string} text
   */
  summary({ file, line, column }, text) {
    const mismatch = mismatchOf(text);
    if (mismatch === null) return text;
    const where = file && `${this.#site.sourceOf(`${file}.tsx`) ?? file}:${line}:${column}: `;
    return `${where}${mismatch.title}. ${mismatch.message}`;
  }

  /** @param {string} path of a URL */
  #moduleAt(path) {
    if (!path.startsWith(this.#base)) return undefined;
    try {
      const url = decodeURI(path.slice(this.#base.length - 1));
      return this.#client.moduleGraph.urlToModuleMap.get(url);
    } catch {
      return undefined; // it is no URL: messages may say anything
    }
  }

  /**
   * See to it that the module has its map: it has none from a change on until it is asked for.
   *
   * @param {string} path
   */
  async #mapped(path) {
    const module = this.#moduleAt(path);
    if (!module || module.transformResult) return;
    await this.#client.transformRequest(module.url).catch(() => null); // it does not parse any more
  }

  /**
   * @param {string} path of a URL
   * @param {number} line
   * @param {number} column
   */
  #original(path, line, column) {
    const module = this.#moduleAt(path);
    const map = module?.transformResult?.map;
    if (!module?.file || !map || !('mappings' in map) || map.mappings === '') return null;
    const entry = new SourceMap(/** @type {any} */ (map)).findEntry(line - 1, column - 1);
    if (!('originalLine' in entry)) return null;
    const file = pageFileOf(module.file);
    return { file, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  /** @param {{ file: string, line: number, column: number }} place */
  #frameIn({ file, line, column }) {
    const source = this.#site.sourceOf(`${file}.tsx`);
    try {
      // Of page files the UI half alone: whoever runs in the page may ask. It is the text that the
      // browser runs, which the disk may have somewhat later.
      const text = source === null ? fs.readFileSync(file, 'utf8') : this.#site.textOf(source);
      return frameOf(text, line, column);
    } catch {
      return ''; // it is gone
    }
  }
}
