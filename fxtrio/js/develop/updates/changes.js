/** Files that have changed → what browsers and renders learn of it. */

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { isPageFile } from '../../vite/page-file.js';
import { placeIn } from './frame.js';
import { invalidateFile, isForgotten } from './graph.js';
import { outlineOf } from './outline.js';
import { scanningStyles } from './scanned.js';
import { stylesLast, withText } from './styles.js';
import { Unloaded } from './unloaded.js';
import { unresolvedImport } from './unresolved.js';

/**
 * @typedef {{ type: 'change' | 'add' | 'unlink', file: string, text?: string | null }} Change
 *   `text` of a page file whose UI half is not on the disk yet
 */
/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

/** Longest wait for Vite to act on one file (ms). */
const LONGEST_MS = 2000;

/** Most changes at once whose modules are prepared before browsers ask for them. */
const MOST_PREPARED = 8;

const CODE = /\.(m?[jt]sx?|fxl)$/;

export class Changes {
  /** @type {Map<string, OverlayProblem>} what is wrong with files, by file */
  #broken = new Map();
  #unloaded = new Unloaded();
  /** Ends when what is being told of has been told. @type {Promise<unknown>} */
  #turn = Promise.resolve();
  /** @type {Map<string, () => string | null>} outlines of files that parse, of this change */
  #outlines = new Map();
  /** Modules that are prepared before browsers ask for them. @type {Promise<unknown>[]} */
  #preparing = [];
  /** @type {Set<string>} files, and sources of page files, that have been deleted */
  #gone = new Set();
  #root;
  #server;
  #site;
  #browsers;
  #vite;
  #settled;

  /**
   * @param {string} root of the project
   * @param {import('vite').ViteDevServer} server
   * @param {import('../site.js').Site} site
   * @param {import('../browsers.js').Browsers} browsers
   * @param {typeof import('vite')} vite
   * @param {import('node:events').EventEmitter} settled emits `sent` after each change
   */
  constructor(root, server, site, browsers, vite, settled) {
    this.#root = root;
    this.#server = server;
    this.#site = site;
    this.#browsers = browsers;
    this.#vite = vite;
    this.#settled = settled;
    browsers.on('fx:unloaded', (/** @type {any} */ report) => this.#retell(report));
  }

  /**
   * A browser could not load the module of an update. If files have changed since, they may have
   * put it right before the browser said so: tell it again. Else the next change may do so.
   *
   * @param {{ url?: unknown, number?: unknown, version?: unknown } | null} report `number` of the
   *   message of the update; `version` the newest that the browser knows, if it shows an older one
   */
  async #retell(report) {
    const { urlToModuleMap } = this.#server.environments.client.moduleGraph;
    const url = String(report?.url);
    const file = urlToModuleMap.get(url)?.file;
    if (!file || !this.#isThere(file)) return;
    if (!this.#unloaded.add(file, Number(report?.number), Number(report?.version))) return;
    await this.#inTurn(async () => {
      if (!this.#unloaded.take(file)) return; // the changes before have told of it
      await this.#emit('change', file, false);
      this.#unloaded.reportedAgain(file, urlToModuleMap.get(url)?.lastHMRTimestamp ?? 0);
      this.#browsers.announce('fx:settled', {});
    });
  }

  /**
   * Whether the file of a module exists; what browsers have shown of a page may be gone.
   *
   * @param {string} file
   */
  #isThere(file) {
    return this.#site.sourceOf(file) !== null || existsSync(file);
  }

  /**
   * @template Result
   * @param {() => Promise<Result>} act
   * @returns {Promise<Result>}
   */
  #inTurn(act) {
    const result = this.#turn.then(act);
    this.#turn = result.catch(() => {}); // whoever waits for it is told
    return result;
  }

  /**
   * Act on changes, page files (`ui`, by source) and others (`files`). Browsers learn of `data`
   * first: it says whose loaders have changed, so that they show both at once.
   *
   * @param {{
   *   ui: Change[], files: Change[], texts: string[], data: { sources: string[] | null } | null,
   *   reload: boolean, problems: Record<string, OverlayProblem[]>,
   * }} changes `texts` are the paths of all files that have come or changed, for those who only
   *   read them; `sources` null stands for all pages; `data` null when no loader has changed;
   *   `reload` says that files have changed of which nobody knows which pages show them; `problems`
   *   is what is wrong by who has found it, where that is other than before
   * @returns {Promise<{ problems: OverlayProblem[], used: boolean, outlines: Record<string, string | null> }>}
   *   what is wrong, in all files; whether anything concerns what is shown, or ever will; what
   *   checks see of the files that have changed, by source or absolute path
   */
  apply(changes) {
    return this.#inTurn(() => this.#apply(changes));
  }

  /** @param {Parameters<Changes['apply']>[0]} changes */
  async #apply(changes) {
    const unloaded = this.#unloaded.begin(this.#browsers.last);
    const { ui, files } = this.#withOthers(changes);
    const { data, texts } = changes;
    const used =
      changes.reload ||
      data !== null ||
      ui.length > 0 ||
      files.some(({ file }) => this.#isUsed(file));
    this.#outlines.clear();
    const good = await this.#parsed(ui);
    const few = ui.length + files.length <= MOST_PREPARED && this.#browsers.isHeard;
    if (data !== null) {
      const known = good.filter(({ type }) => type === 'change'); // others are on no screen
      const expected = known.map(({ file }) => this.#site.urlOf(file));
      this.#browsers.announce('fx:data', {
        sources: data.sources?.map(this.#urlOf) ?? null,
        expected,
      });
    }
    const came = [...ui, ...files].some(({ type }) => type === 'add');
    for (const file of this.#scanning(texts, came)) await this.#emit('change', file, few);
    for (const change of good) await this.#emitPage(change, few);
    const { isCSSRequest } = this.#vite;
    for (const { type, file } of stylesLast(await this.#parsed(files), isCSSRequest)) {
      if (type !== 'change' && isForgotten(this.#server, file)) invalidateFile(this.#server, file);
      else if (type === 'change' && few && isCSSRequest(file)) {
        const tell = () => this.#emit(type, file, false);
        await withText(file, this.#server.environments.client, this.#browsers, tell);
      } else await this.#emit(type, file, few);
    }
    this.#unloaded.end(this.#browsers.last);
    // What they import may be right now.
    const idOf = (/** @type {string} */ file) =>
      path.isAbsolute(file) ? file : this.#site.idOf(file);
    const done = new Set([...ui, ...files].map(({ file }) => idOf(file)));
    for (const file of unloaded) {
      if (!done.has(file) && this.#isThere(file)) await this.#emit('change', file, few);
    }
    const problems = [...this.#broken].map(([file, problem]) => ({
      ...problem,
      pages: this.#browsers.pagesOf(idOf(file)),
    }));
    this.#browsers.setProblems('syntax', problems);
    for (const [key, found] of Object.entries(changes.problems)) {
      this.#browsers.setProblems(key, found);
    }
    this.#browsers.announce('fx:settled', {});
    if (changes.reload) this.#browsers.send({ type: 'full-reload' });
    return { problems, used, outlines: await this.#outlined() };
  }

  /** Return the outlines when the modules are made: browsers wait for those alone. */
  async #outlined() {
    const longest = pause(LONGEST_MS, null, { ref: false });
    await Promise.race([Promise.all(this.#preparing.splice(0)), longest]);
    return Object.fromEntries([...this.#outlines].map(([file, of]) => [file, of()]));
  }

  /**
   * Add the files that other files make right or wrong: what imports files that go, and all that
   * are broken. What they lack may have come and be known: it was away for a moment.
   *
   * @param {{ ui: Change[], files: Change[] }} changes
   */
  #withOthers({ ui, files }) {
    const came = files.filter(({ type, file }) => type !== 'unlink' && this.#isNew(file));
    const left = files.filter(({ type }) => type === 'unlink');
    const others = new Set(this.#broken.keys());
    const { moduleGraph } = this.#server.environments.client;
    for (const { file } of left) {
      this.#gone.add(file);
      for (const module of moduleGraph.getModulesByFile(file) ?? []) {
        for (const { file: importer } of module.importers) {
          if (importer) others.add(this.#site.sourceOf(importer) ?? importer);
        }
      }
    }
    for (const { file } of [...ui, ...files]) others.delete(file);
    const again = [...others].map((file) => ({ type: /** @type {const} */ ('change'), file }));
    return {
      ui: [...ui, ...again.filter(({ file }) => !path.isAbsolute(file))],
      files: [
        ...files.map((one) =>
          came.includes(one) ? { ...one, type: /** @type {const} */ ('add') } : one,
        ),
        ...again.filter(({ file }) => path.isAbsolute(file)),
      ],
    };
  }

  /**
   * Whether a file is code or a stylesheet, or a module imports it. That one is scanned for the
   * names of classes counts for nothing: all texts are.
   *
   * @param {string} file
   */
  #isUsed(file) {
    if (CODE.test(file) || this.#vite.isCSSRequest(file)) return true;
    return Object.values(this.#server.environments).some(({ moduleGraph }) =>
      [...(moduleGraph.getModulesByFile(file) ?? [])].some(({ type }) => type !== 'asset'),
    );
  }

  /** @param {string} file */
  #isNew(file) {
    return (
      this.#gone.delete(file) ||
      !this.#server.environments.client.moduleGraph.getModulesByFile(file)
    );
  }

  /**
   * @param {string[]} texts
   * @param {boolean} came
   */
  #scanning(texts, came) {
    const { moduleGraph } = this.#server.environments.client;
    return scanningStyles(moduleGraph, this.#vite.isCSSRequest, texts, came);
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
      const broken = change.type === 'unlink' ? null : await this.#problemOf(change);
      if (broken === null) {
        this.#broken.delete(change.file);
        good.push(change);
      } else this.#broken.set(change.file, broken);
      if (change.type === 'unlink') this.#site.forget(change.file);
    }
    return good;
  }

  /**
   * @param {Change} change of a page file by its source, or of another by its absolute path
   * @returns {Promise<OverlayProblem | null>}
   */
  async #problemOf({ file, text: sent }) {
    const isPage = isPageFile(file) && !path.isAbsolute(file);
    if (!isPage && !CODE.test(file)) return null;
    const staged = isPage ? this.#site.stagedAt(file) : file;
    const text = sent ?? (await fs.readFile(staged, 'utf8').catch(() => null));
    if (text === null) return null;
    const parsed = this.#vite.parseSync(staged, text, {
      lang: /\.m?ts$/.test(staged) ? 'ts' : 'tsx',
    });
    const { errors, module } = parsed;
    const id = path.isAbsolute(file) ? file : this.#site.idOf(file);
    const name = path.isAbsolute(file) ? file : id.replace(/\.tsx$/, '');
    if (errors.length > 0) {
      const [{ message, labels }] = errors;
      const offset = labels?.[0]?.start ?? 0;
      const title = 'This code cannot be parsed';
      return { title, message, file: name, ...placeIn(text, offset) };
    }
    const { pluginContainer } = this.#server.environments.client;
    const resolves = async (/** @type {string} */ specifier) =>
      (await pluginContainer.resolveId(specifier, id)) !== null;
    this.#outlines.set(file, () => outlineOf(text, parsed));
    const missing = await unresolvedImport(module, text, { root: this.#root, file: id, resolves });
    if (missing === null) {
      if (isPage) this.#site.setRight(file, text);
      return null;
    }
    const { message, start } = missing;
    const title = 'Unresolved import';
    return { title, message, file: name, ...placeIn(text, start) };
  }

  /**
   * A page that is gone is nobody's any more; one that is there again is a new text of what
   * browsers have shown. Nobody has shown one that is new.
   *
   * @param {Change} change of a page file
   * @param {boolean} prepared
   */
  async #emitPage({ type, file }, prepared) {
    const id = this.#site.idOf(file);
    if (type === 'change') return this.#emit(type, id, prepared);
    if (type === 'unlink') {
      this.#gone.add(file);
      invalidateFile(this.#server, id);
      // Or browsers that have shown it would ask for it when something changes that it has used.
      for (const { moduleGraph } of Object.values(this.#server.environments)) {
        moduleGraph.onFileDelete(id);
      }
    } else if (this.#gone.delete(file)) {
      // Of a module that has not been made Vite would not know that it takes updates of itself.
      await this.#server.environments.client.warmupRequest(`/${file}.tsx`);
      await this.#emit('change', id, prepared);
    }
  }

  /**
   * Tell Vite of a change, and wait until it has told the browsers.
   *
   * @param {Change['type']} type
   * @param {string} file
   * @param {boolean} prepared whether its modules are made before browsers ask for them
   */
  async #emit(type, file, prepared) {
    const sent = once(this.#settled, 'sent', { signal: AbortSignal.timeout(LONGEST_MS) });
    this.#server.watcher.emit(type, file);
    await sent.catch(() => {}); // Vite has nothing to do with the file
    if (!prepared || type === 'unlink') return;
    const { client } = this.#server.environments;
    for (const { url } of client.moduleGraph.getModulesByFile(file) ?? []) {
      this.#preparing.push(client.warmupRequest(url)); // whoever asks is told what is wrong
    }
  }
}
