/** Vite's client, as `fx dev` sends it, outside of a browser. */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { follow } from '../../../develop/browser/versions.js';

const FOLDER = path.dirname(createRequire(import.meta.url).resolve('vite/package.json'));

/** The text that Vite's plug-ins change. */
export const TEXT = fs.readFileSync(path.join(FOLDER, 'dist/client/client.mjs'), 'utf8');

const quiet = { debug() {}, error() {}, log() {}, info() {} };

/**
 * Evaluate the text of a client as a script.
 *
 * @param {string} text
 * @param {Record<string, unknown>} bindings what its names mean
 * @returns {(path: string) => any} makes the `import.meta.hot` of a module
 */
export function evaluate(text, bindings) {
  const script = text
    .replace(/^import .*$/gm, '')
    .replace(/^export \{.*$/m, '')
    .replaceAll(/^export /gm, '')
    .replaceAll('import.meta.url', '"http://localhost/_fx/@vite/client"')
    .replaceAll(/\bimport\(/g, 'importModule(');
  const constants = [...new Set(script.match(/\b__[A-Z][A-Z_]*__\b/g))]; // the server puts them in
  const values = {
    ...Object.fromEntries(constants.map((name) => [name, ''])),
    __SERVER_FORWARD_CONSOLE__: { enabled: false },
    console: quiet,
    setInterval() {},
    ...bindings,
  };
  const start = new Function(...Object.keys(values), `${script}\nreturn createHotContext;`);
  return start(...Object.values(values));
}

/**
 * Start a client that follows `versions`.
 *
 * @param {import('../../../develop/browser/versions.js').Versions} versions
 * @param {(url: string) => Promise<object>} importModule
 * @param {(id: string, text: string) => void} [updateStyle]
 * @returns {{ hear: (message: object) => void, hotOf: (path: string) => any }} `hear` takes what
 *   the server says, and `hotOf` makes the `import.meta.hot` of a module
 */
export function startClient(versions, importModule, updateStyle = () => {}) {
  /** @type {EventTarget | undefined} */
  let socket;
  class Socket extends EventTarget {
    static OPEN = 1;
    OPEN = 1;
    readyState = 1;
    constructor() {
      super();
      socket = this;
    }
    send() {}
  }
  const followed = (/** @type {any} */ client, /** @type {any} */ Context) =>
    follow(client, Context, updateStyle, versions);
  const text = `${TEXT}\nfollow(hmrClient, HMRContext, updateStyle);\n`;
  const hotOf = evaluate(text, { WebSocket: Socket, importModule, follow: followed });
  const hear = (/** @type {object} */ message) =>
    socket?.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  return { hear, hotOf };
}
