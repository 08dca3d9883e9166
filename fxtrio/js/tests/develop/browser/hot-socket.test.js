import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { hotSocket, standing } from '../../../develop/browser/socket.js';

/** @type {any} */
const browser = globalThis;
const plain = { self: browser.self };

const seen = { sockets: /** @type {any[]} */ ([]), replaced: 0 };

class FakeSocket extends EventTarget {
  readyState = 1;
  constructor() {
    super();
    seen.sockets.push(this);
  }

  send() {}

  /** @param {object} message */
  hear(message) {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

beforeEach(() => {
  seen.sockets = [];
  seen.replaced = 0;
  standing.isReplaced = false;
  mock.timers.enable({ apis: ['setTimeout'] });
  browser.self = Object.assign(new EventTarget(), { WebSocket: FakeSocket });
  browser.self.addEventListener('fx:reconnected', () => (seen.replaced += 1));
  browser.location = new URL('http://localhost:8000/');
  const timing = [{ name: 'fx-process', description: '7' }];
  mock.method(browser.performance, 'getEntriesByType', () => [{ serverTiming: timing }]);
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  delete browser.location;
  browser.self = plain.self;
});

/** @param {string} id of the process */
function connect(id) {
  const Socket = hotSocket('/_fx/');
  new Socket();
  seen.sockets[0].dispatchEvent(new Event('open'));
  hello(id);
}

/** @param {string} id of the process */
function hello(id) {
  seen.sockets.at(-1).hear({ type: 'custom', event: 'fx:process', data: { id } });
  seen.sockets.at(-1).hear({ type: 'connected', epoch: 'e', number: 0 });
}

test('a document that connects to the process that has sent it learns of nothing', () => {
  connect('7');
  assert.equal(seen.replaced, 0);
  assert.equal(standing.isReplaced, false);
});

test('a document whose process was replaced before it connects learns of that', () => {
  connect('8');
  assert.equal(seen.replaced, 1);
  assert.equal(standing.isReplaced, true, 'for those who listen later');
});

test('one that is replaced later is told once, when the connection is there again', () => {
  connect('7');
  seen.sockets[0].dispatchEvent(new Event('close'));
  mock.timers.tick(150);
  assert.equal(seen.sockets.length, 2);
  seen.sockets[1].dispatchEvent(new Event('open'));
  hello('8');
  assert.equal(seen.replaced, 1);
});
