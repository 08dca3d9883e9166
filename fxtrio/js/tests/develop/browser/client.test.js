/** Vite's client with what is added to it, as `fx dev` sends it. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { bundleRuntime, extendedClient } from '../../../develop/runtime/runtime.js';
import { evaluate, TEXT } from './vite-client.js';

const home = fileURLToPath(new URL('../../..', import.meta.url));
const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-client-'));
test.after(() => fs.rmSync(parent, { recursive: true }));
const runtime = await bundleRuntime(createRequire(import.meta.url), home, parent);
const text = extendedClient(TEXT, runtime, '/base/_fx/');

test("Vite's client imports nothing that needs a document, as workers have none", () => {
  assert.deepEqual(text.match(/^import .*$/gm), ['import "@vite/env";']);
});

test('it connects and reconnects in a worker', () => {
  /** @type {any[]} */
  const sockets = [];
  class FakeSocket extends EventTarget {
    readyState = 1;
    /** @param {URL} url */
    constructor(url) {
      super();
      this.url = url.href;
      sockets.push(this);
    }

    send() {}
  }
  const self = Object.assign(new EventTarget(), { WebSocket: FakeSocket });
  let reconnected = 0;
  self.addEventListener('fx:reconnected', () => (reconnected += 1));
  const location = new URL('http://localhost:8000/');

  const hotOf = evaluate(text, { self, location, importModule() {} });

  assert.deepEqual(
    sockets.map(({ url }) => url),
    ['ws://localhost:8000/base/_fx/@hot'],
  );
  for (const message of [
    { type: 'custom', event: 'fx:process', data: { id: '7' } },
    { type: 'connected', epoch: 'e', number: 0 },
    { type: 'custom', event: 'fx:process', data: { id: '8' } },
    { type: 'connected', epoch: 'f', number: 0 },
  ]) {
    sockets[0].dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
  assert.equal(reconnected, 1);
  assert.equal(typeof hotOf('/w.js').loaded, 'function');
});

test('what a document loads has the same state as the client', () => {
  const main = fs.readFileSync(path.join(runtime, 'main.js'), 'utf8');
  const url = new URL('http://localhost/_fx/.fx/dev/runtime/0123/main.js');

  const imported = /import \{ ([^}]+) \} from "(.*@vite\/client)";/.exec(main);

  assert.equal(new URL(imported?.[2] ?? '', url).pathname, '/_fx/@vite/client');
  const exported = /^export const \{ (.*) \} = fx;$/m.exec(text)?.[1].split(', ');
  assert.deepEqual(imported?.[1].split(', ').sort(), exported?.sort());
  assert.doesNotMatch(main, /class Versions/);
});
