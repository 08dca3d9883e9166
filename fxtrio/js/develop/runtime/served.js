/**
 * The files of the client runtime, for browsers: as they are, since Vite has nothing to change in
 * them, and would take longer than the first render for it.
 */

import fs from 'node:fs';
import path from 'node:path';

/** What pages load whatever they are made of. */
const ALWAYS = /^(main|shared-.*|refresh|library-react(-jsx-dev-runtime)?)\.js$/;

export class RuntimeFiles {
  /** @type {Map<string, string>} by URL path */
  #texts = new Map();

  /**
   * URLs of what each page loads, one import after the other: told at once, they are loaded at
   * once. The largest come first: browsers load six at a time, and parse a file while it comes.
   *
   * @type {string[]}
   */
  preload = [];

  /**
   * @param {import('../settings.js').Settings} settings
   * @param {string} runtime folder of the bundle, which is named after its content
   */
  constructor({ root, base, toolchain }, runtime) {
    const folder = `${base}${path.relative(root, runtime).split(path.sep).join('/')}/`;
    for (const name of fs.readdirSync(runtime).filter((one) => one.endsWith('.js'))) {
      const text = fs.readFileSync(path.join(runtime, name), 'utf8');
      this.#texts.set(folder + name, text);
      if (ALWAYS.test(name)) this.preload.push(folder + name);
    }
    const sizeOf = (/** @type {string} */ url) => this.#texts.get(url)?.length ?? 0;
    this.preload.sort((one, other) => sizeOf(other) - sizeOf(one) || (one < other ? -1 : 1));
    const environment = `${base}@fs${toolchain}/node_modules/vite/dist/client/env.mjs`;
    this.preload.push(`${base}@vite/client`, environment);
  }

  /**
   * Send a file, and return whether it is one of these.
   *
   * @param {string} url path and query
   * @param {import('node:http').ServerResponse} response
   */
  answer(url, response) {
    const text = this.#texts.get(url);
    if (text === undefined) return false;
    response.setHeader('content-type', 'text/javascript; charset=utf-8');
    response.setHeader('cache-control', 'public, max-age=31536000, immutable');
    response.end(text);
    return true;
  }
}
