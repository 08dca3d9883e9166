import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  askingForMissed,
  decodeFrame,
  encodeFrame,
  lossOf,
  missedIn,
  pauseBefore,
} from '../../client/live/reconnect.js';
import { Connection } from '../../client/live/web-socket.js';

test('pauses grow up to half a minute, and are spread', () => {
  assert.equal(pauseBefore(1006, 0, 1), 500);
  assert.equal(pauseBefore(1006, 0, 0), 250);
  assert.equal(pauseBefore(1006, 3, 1), 4000);
  assert.equal(pauseBefore(1006, 50, 1), 30_000);
});

test('a close that is meant is final', () => {
  for (const code of [1000, 1008, 4401, 4999]) assert.equal(pauseBefore(code, 0, 1), null);
  for (const code of [1001, 1006, 1011, 1012, 1013]) assert.ok(pauseBefore(code, 0, 1));
});

test('a loss is told in words, a regular end is none', () => {
  assert.equal(lossOf({ code: 1000, reason: 'bye' }), null);
  assert.equal(lossOf({ code: 1006, reason: '' }), 'The connection was lost.');
  assert.equal(lossOf({ code: 4401, reason: '' }), 'The server closed the connection (4401).');
  assert.equal(lossOf({ code: 4401, reason: 'sign in' }), 'sign in');
});

test('objects and arrays are JSON, text is text', () => {
  assert.deepEqual(decodeFrame('{"a":[1]}'), { a: [1] });
  assert.deepEqual(decodeFrame(' [1]'), [1]);
  for (const text of ['5', 'true', 'hello', '{broken', '']) assert.equal(decodeFrame(text), text);
  const bytes = new ArrayBuffer(2);
  assert.equal(decodeFrame(bytes), bytes);
  assert.equal(encodeFrame({ a: 1 }), '{"a":1}');
  assert.equal(encodeFrame('5'), '5');
  assert.equal(encodeFrame(bytes), bytes);
});

test('a frame about lost messages is told from messages', () => {
  const cases = new URL('../../../../tests/wire/missed.json', import.meta.url);
  for (const { frame, count } of JSON.parse(readFileSync(cases, 'utf8'))) {
    assert.deepEqual(missedIn(frame), { count });
  }
  for (const data of ['{"count":3}', '"$missed"', '{broken', new ArrayBuffer(2)]) {
    assert.equal(missedIn(data), undefined);
  }
});

test('a server is asked in the query, which stays as it is', () => {
  const withQuery = (/** @type {string} */ url) => askingForMissed(new URL(url)).href;
  assert.equal(withQuery('ws://a/b'), 'ws://a/b?fx-missed');
  assert.equal(withQuery('ws://a/b?x=1%202#y'), 'ws://a/b?x=1%202&fx-missed#y');
});

class FakeSocket extends EventTarget {
  readyState = 0;
  binaryType = '';
  /** @type {unknown[]} */
  sent = [];
  /** @type {number | undefined} */
  closedWith;

  open() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  /** @param {number} code */
  lose(code) {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }

  /** @param {unknown} message */
  send(message) {
    this.sent.push(message);
  }

  /** @param {number} code */
  close(code) {
    this.closedWith = code;
  }
}

/** @param {import('node:test').TestContext} context */
function connect(context) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  /** @type {FakeSocket[]} */
  const sockets = [];
  /** @type {string[]} */
  const statuses = [];
  /** @type {unknown[]} */
  const messages = [];
  /** @type {unknown[]} */
  const missed = [];
  const connection = new Connection({
    open: () => {
      sockets.push(new FakeSocket());
      return /** @type {any} */ (sockets.at(-1));
    },
    onStatus: (status) => statuses.push(status),
    onMessage: (message) => messages.push(message),
    onMissed: (lost) => missed.push(lost),
    onClose: () => {},
  });
  return { connection, sockets, statuses, messages, missed };
}

test('a lost connection is opened again, and counts anew once it is open', (context) => {
  const { sockets, statuses } = connect(context);
  sockets[0].open();
  sockets[0].lose(1006);
  context.mock.timers.tick(500);
  assert.equal(sockets.length, 2);
  sockets[1].open();
  sockets[1].lose(1001);
  context.mock.timers.tick(500);
  assert.equal(sockets.length, 3, 'the pause is the first again');
  assert.deepEqual(statuses.slice(0, 4), ['connecting', 'open', 'connecting', 'connecting']);
});

test('a final close ends it', (context) => {
  const { sockets, statuses } = connect(context);
  sockets[0].open();
  sockets[0].lose(4401);
  context.mock.timers.tick(60_000);
  assert.equal(sockets.length, 1);
  assert.equal(statuses.at(-1), 'closed');
});

test('closing it cancels the attempt that waits', (context) => {
  const { connection, sockets, statuses } = connect(context);
  sockets[0].lose(1006);
  connection.close();
  context.mock.timers.tick(60_000);
  assert.equal(sockets.length, 1);
  assert.equal(statuses.at(-1), 'closed');
});

test('messages are sent only while it is open, and none is heard after it is closed', (context) => {
  const { connection, sockets, messages } = connect(context);
  assert.equal(connection.send('early'), false);
  sockets[0].open();
  assert.equal(connection.send({ a: 1 }), true);
  assert.deepEqual(sockets[0].sent, ['{"a":1}']);
  sockets[0].dispatchEvent(new MessageEvent('message', { data: '[1]' }));
  connection.close();
  sockets[0].dispatchEvent(new MessageEvent('message', { data: '[2]' }));
  assert.deepEqual(messages, [[1]]);
  assert.equal(sockets[0].closedWith, 1000);
});

test('lost messages are told after a reconnection, and where the server says so', (context) => {
  const { sockets, messages, missed } = connect(context);
  sockets[0].open();
  assert.deepEqual(missed, []);
  const hear = (/** @type {string} */ data) =>
    sockets.at(-1)?.dispatchEvent(new MessageEvent('message', { data }));
  hear('[1]');
  hear('{"$missed":{"count":2}}');
  hear('[2]');
  assert.deepEqual(messages, [[1], [2]]);
  assert.deepEqual(missed, [{ count: 2 }]);
  sockets[0].lose(1013);
  context.mock.timers.tick(500);
  assert.deepEqual(missed, [{ count: 2 }]);
  sockets[1].open();
  assert.deepEqual(missed, [{ count: 2 }, { count: null }]);
});
