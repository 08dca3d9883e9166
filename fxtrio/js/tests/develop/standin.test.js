import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

const SCRIPT = readFileSync(new URL('../../../develop/report/standin.js', import.meta.url), 'utf8');

/** A page of the stand-in `a`, which connects to whatever serves meanwhile. */
function openPage() {
  /** @type {any[]} */
  const sockets = [];
  const page = { reloads: 0, socket: /** @type {any} */ (null) };
  runInNewContext(SCRIPT, {
    URL,
    JSON,
    setTimeout: (/** @type {() => void} */ act) => act(),
    document: { currentScript: { dataset: { hot: '/base/_fx/@hot', failure: 'a' } } },
    location: { href: 'http://localhost:8000/base/', reload: () => (page.reloads += 1) },
    WebSocket: class extends EventTarget {
      /** @param {URL} url */
      constructor(url) {
        super();
        this.url = url.href;
        sockets.push(this);
      }
    },
  });
  [page.socket] = sockets;
  return page;
}

/**
 * @param {{ socket: EventTarget }} page
 * @param {object} message
 */
function tell({ socket }, message) {
  socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
}

test('the page about a failure stays while its own stand-in serves', () => {
  const page = openPage();
  tell(page, { type: 'custom', event: 'fx:problems', data: [], failure: 'a' });
  assert.equal(page.socket.url, 'ws://localhost:8000/base/_fx/@hot');
  assert.equal(page.reloads, 0);
  page.socket.dispatchEvent(new Event('close'));
  assert.equal(page.reloads, 1);
});

test('it is loaded anew when something else has taken the place before it connects', () => {
  for (const message of [
    { type: 'custom', event: 'fx:process', data: { id: '1' } },
    { type: 'connected' },
    { type: 'custom', event: 'fx:problems', data: [], failure: 'b' },
  ]) {
    const page = openPage();
    tell(page, message);
    assert.equal(page.reloads, 1, JSON.stringify(message));
  }
});
