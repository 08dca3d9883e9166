/**
 * What browsers may load: modules that some module of the app imports, and nothing else.
 *
 * A development server that serves files would serve the Python of pages, settings and data too.
 */

import fs from 'node:fs';
import path from 'node:path';

/** Files that stylesheets name, which makes them no modules. */
const MEDIA =
  /\.(png|jpe?g|gif|svg|ico|webp|avif|apng|bmp|woff2?|ttf|otf|eot|mp4|webm|ogg|mp3|wav|flac|aac|m4a|pdf|wasm)$/i;
const CODE = /\.(m?js|css)(\.map)?$/;
const HIDDEN = /(^|\/)\./;
const SERVER_CODE = /\.(fxl|pyi?|pyc)$/i;
/** What Vite adds to the URL of a module, and which names no other text. */
const STAMPS = /^(import|t=\d+|v=[\w-]+)$/;

export class Access {
  #root;
  #base;
  #site;
  #graph;
  #open;

  /**
   * @param {import('./settings.js').Settings} settings
   * @param {import('./site.js').Site} site
   * @param {import('vite').ViteDevServer} server
   * @param {string} runtime
   */
  constructor({ root, base, toolchain }, site, server, runtime) {
    this.#root = root;
    this.#base = base;
    this.#site = site;
    this.#graph = server.environments.client.moduleGraph;
    const vite = path.join(toolchain, 'node_modules/vite/dist/client');
    this.#open = [server.config.cacheDir, runtime, vite].map((folder) => `${folder}/`);
  }

  /**
   * Whether a browser may load this.
   *
   * @param {string} target path and query of a request
   */
  allows(target) {
    if (!target.startsWith(this.#base)) return false;
    const [before, ...queries] = target.slice(this.#base.length).split('?');
    let name;
    try {
      name = decodeURIComponent(before);
    } catch {
      return false;
    }
    if (/[\\\0#]/.test(name) || path.posix.normalize(`/${name}`) !== `/${name}`) return false;
    const rest = queries
      .join('?')
      .split('&')
      .filter((part) => part !== '' && !STAMPS.test(part))
      .join('&');
    if (rest === '' && name === '@vite/client') return true;
    if (name.startsWith('@id/')) return this.#isVirtual(name.slice(4), rest);
    const file = name.startsWith('@fs/') ? `/${name.slice(4).replace(/^\/+/, '')}` : null;
    return this.#isModule(file ?? path.posix.join(this.#root, name), rest, target);
  }

  /**
   * @param {string} name
   * @param {string} rest of the query
   */
  #isVirtual(name, rest) {
    if (!name.startsWith('__x00__')) return false;
    const id = name.replace('__x00__', '\0');
    return rest === '' && (id.startsWith('\0virtual:fx/') || this.#graph.idToModuleMap.has(id));
  }

  /**
   * @param {string} file
   * @param {string} rest of the query
   * @param {string} target
   */
  #isModule(file, rest, target) {
    if (SERVER_CODE.test(file)) return false;
    if (rest === '') {
      if (this.#site.sourceOf(file) !== null) return true;
      const open = CODE.test(file) && this.#open.some((folder) => file.startsWith(folder));
      if (open) return true;
    }
    // Stylesheets of fonts name their files with this query, since small ones stay files, too.
    const isWhole = rest === '' || rest === 'no-inline';
    if (isWhole && this.#isMedia(file) && this.#isMentioned(file)) return true;
    const modules = this.#graph.getModulesByFile(file) ?? [];
    for (const { id, url, type } of modules) {
      if (type === 'asset') continue; // no module: what Tailwind has read, which is everything
      if (this.#site.sourceOf(id ?? '') !== null) continue;
      const [, query = ''] = (id ?? url).split('?');
      if (query === rest || rest === '') return true;
    }
    return /(^|&)worker_file(&|$)/.test(rest) && this.#isNamed(target);
  }

  /** @param {string} file */
  #isMedia(file) {
    try {
      const root = fs.realpathSync(this.#root);
      // A link is what it leads to, whatever it is called.
      return [
        [file, this.#root],
        [fs.realpathSync(file), root],
      ].every(
        ([place, folder]) =>
          place.startsWith(`${folder}/`) &&
          MEDIA.test(place) &&
          !HIDDEN.test(place.slice(folder.length + 1)),
      );
    } catch {
      return false; // there is no such file
    }
  }

  /**
   * Whether code or a stylesheet that was sent to browsers speaks of a file of this name: what
   * lies about in the project is nobody's to see.
   *
   * @param {string} file
   */
  #isMentioned(file) {
    const name = path.posix.basename(file);
    const names = [`/${name}`, `/${encodeURI(name)}`, `/${encodeURIComponent(name)}`];
    for (const { transformResult } of this.#graph.idToModuleMap.values()) {
      const code = transformResult?.code;
      if (code !== undefined && names.some((one) => code.includes(one))) return true;
    }
    return false;
  }

  /**
   * Whether code that was sent to browsers names this.
   *
   * @param {string} target
   */
  #isNamed(target) {
    const [before] = target.split('?');
    for (const { transformResult } of this.#graph.idToModuleMap.values()) {
      if (transformResult?.code.includes(`"${before}?`)) return true;
    }
    return false;
  }
}
