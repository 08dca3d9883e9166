/** Vite's client, as `fx dev` sends it, outside of a browser. */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { follow } from '../../../develop/browser/versions.js';

const FOLDER = path.dirname(createRequire(import.meta.url).resolve('vite/package.json'));
const TEXT = fs
  .readFileSync(path.join(FOLDER, 'dist/client/client.mjs'), 'utf8')
  .replace(/^import .*$/gm, '')
  .replace(/^export \{.*$/m, '')
  .replaceAll('import.meta.url', '"http://localhost/_fx/@vite/client"')
  .replaceAll(/\bimport\(/g, 'importModule(');

/** What the server puts in. */
const CONSTANTS = [...new Set(TEXT.match(/\b__[A-Z][A-Z_]*__\b/g))];

const quiet = { debug() {}, error() {}, log() {}, info() {} };

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
  const body = `${TEXT}\nfollow(hmrClient, HMRContext, updateStyle);\nreturn createHotContext;`;
  const names = ['WebSocket', 'console', 'setInterval', 'importModule', 'follow', ...CONSTANTS];
  const start = new Function(...names, body);
  const given = { __SERVER_FORWARD_CONSOLE__: { enabled: false } };
  const values = CONSTANTS.map((name) => /** @type {any} */ (given)[name] ?? '');
  const followed = (/** @type {any} */ client, /** @type {any} */ Context) =>
    follow(client, Context, updateStyle, versions);
  const hotOf = start(Socket, quiet, () => {}, importModule, followed, ...values);
  const hear = (/** @type {object} */ message) =>
    socket?.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  return { hear, hotOf };
}
