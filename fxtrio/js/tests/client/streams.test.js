import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { callAction } from '../../client/actions/action-call.js';
import { EventSplitter, readEvents } from '../../client/live/event-stream.js';
import { Reading } from '../../client/actions/reading.js';
import { stateOf } from '../../client/actions/use-action.js';
import { StreamConnection } from '../../client/live/stream-connection.js';
import { streamUrl } from '../../client/live/use-stream.js';

const END = 'event: end\ndata: {"ok":true}\n\n';

/** @param {string[]} chunks */
function bodyOf(chunks) {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
  return new ReadableStream({
    pull(controller) {
      const next = bytes.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
}

/** @param {string[]} chunks */
async function valuesOf(chunks) {
  /** @type {any[][]} */
  const reads = [];
  const end = await readEvents(bodyOf(chunks), (values) => reads.push(values));
  return { reads, end };
}

/**
 * @param {BodyInit} body
 * @param {Reading} [reading]
 * @param {(url: string) => void} [invalidate]
 */
function call(body, reading, invalidate = () => {}) {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  const fetch = async () => new Response(body, { headers });
  const url = '/api/__actions/index/ask';
  return callAction({ fetch, url, payload: {}, cookies: '', invalidate, reading });
}

test('the values of one read come together', async () => {
  const found = await valuesOf(['data: 1\n\ndata: {"a":"\u2028"}\n\n', `data: 3\n\n${END}`]);
  assert.deepEqual(found, { reads: [[1, { a: '\u2028' }], [3]], end: { ok: true } });
});

test('an event in many parts is looked at once, wherever they are divided', () => {
  const text = 'data: 1\n\ndata: 2\nid: 3\n\n:\n\ndata: 4\n\n';
  const whole = text.split('\n\n').slice(0, -1);
  for (let size = 1; size <= text.length; size += 1) {
    const splitter = new EventSplitter();
    const found = [];
    for (let at = 0; at < text.length; at += size) {
      found.push(...splitter.feed(text.slice(at, at + size)));
    }
    assert.deepEqual(found, whole, `in parts of ${size}`);
  }
  const splitter = new EventSplitter();
  const part = new Proxy(new String('x'.repeat(1000)), {
    get: (target, name) => {
      if (name === 'split') looked += 1;
      const value = /** @type {any} */ (target)[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  let looked = 0;
  for (let count = 0; count < 50; count += 1) splitter.feed(/** @type {any} */ (part));
  assert.equal(looked, 50);
});

test('events may be cut anywhere, and comments are no values', async () => {
  const text = `data: {"text":"one"}\n\n:\n\ndata: "two"\n\n${END}`;
  const found = await valuesOf([...text]);
  assert.deepEqual(found.reads, [[{ text: 'one' }], ['two']]);
  assert.deepEqual(found.end, { ok: true });
});

test('a body without an end was cut off', async () => {
  assert.equal((await valuesOf(['data: 1\n\n'])).end, null);
});

test('values are reduced, and shown once for each read', async () => {
  /** @type {string[]} */
  const rendered = [];
  const reduce = (/** @type {string} */ all, /** @type {string} */ part) => all + part;
  const reading = new Reading({ reduce, initial: '' }, (data) => rendered.push(data));
  const result = await call(bodyOf(['data: "a"\n\ndata: "b"\n\n', `data: "c"\n\n${END}`]), reading);
  assert.deepEqual(rendered, ['', 'ab', 'abc']);
  assert.deepEqual(result, { ok: true, fields: {}, data: 'abc' });
  assert.deepEqual(stateOf(result, reading), {
    pending: false,
    data: 'abc',
    error: null,
    fields: {},
  });
});

test('without reduce the data is the last value', async () => {
  assert.equal((await call(bodyOf([`data: 1\n\ndata: 2\n\n${END}`]))).data, 2);
});

test('a failure behind values leaves them to be shown', async () => {
  const reading = new Reading();
  const end = 'event: end\ndata: {"ok":false,"error":"It broke.","data":{"left":2}}\n\n';
  const result = await call(bodyOf([`data: 1\n\n${end}`]), reading);
  assert.deepEqual(result, { ok: false, error: 'It broke.', fields: {}, data: { left: 2 } });
  assert.equal(stateOf(result, reading).data, 1);
  assert.equal(stateOf(result, reading).error, 'It broke.');
});

test('a connection that is lost says so', async () => {
  const result = await call(bodyOf(['data: 1\n\n']));
  assert.deepEqual(result, { ok: false, error: 'The connection was lost.', fields: {} });
});

test('the end names URLs to forget', async () => {
  /** @type {string[]} */
  const urls = [];
  const end = 'event: end\ndata: {"ok":true,"invalidate":["/a","/b"],"redirect":"/c"}\n\n';
  const result = await call(bodyOf([end]), undefined, (url) => urls.push(url));
  assert.deepEqual([urls, result.redirect, 'invalidate' in result], [['/a', '/b'], '/c', false]);
});

test('a call that is stopped is no failure', async () => {
  const reading = new Reading({}, (data) => data === 1 && reading.stop());
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('data: 1\n\n'));
      reading.signal.addEventListener('abort', () => controller.error(reading.signal.reason));
    },
  });
  const result = await call(body, reading);
  assert.deepEqual(result, { ok: false, stopped: true, error: '', fields: {} });
  assert.deepEqual(stateOf(result, reading), {
    pending: false,
    data: 1,
    error: null,
    fields: {},
  });
});

test('a component that leaves ends a stream, also one that is yet to begin', () => {
  const early = new Reading();
  early.leave();
  assert.equal(early.signal.aborted, false); // it may be an action that does not stream
  early.begin();
  assert.equal(early.signal.aborted, true);
  const running = new Reading();
  running.begin();
  running.leave();
  assert.equal(running.signal.aborted, true);
});

test('what reduce throws ends the stream, and is for the caller', async () => {
  const reading = new Reading({
    reduce: () => {
      throw new RangeError('too much');
    },
  });
  reading.begin();
  reading.take([1]);
  assert.equal(reading.signal.aborted, true);
  assert.match(String(reading.thrown[0]), /too much/);
});

const URL = '/api/__streams/index/feed';

class Source extends EventTarget {
  readyState = 0;

  /** @param {string} url */
  constructor(url) {
    super();
    this.url = url;
  }

  close() {
    this.readyState = 2;
  }

  open() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  /** @param {unknown} data @param {string} [id] @param {string} [type] */
  send(data, id = '', type = 'message') {
    const event = new MessageEvent(type, { data: JSON.stringify(data), lastEventId: id });
    this.dispatchEvent(event);
  }

  /** @param {number} readyState */
  fail(readyState) {
    this.readyState = readyState;
    this.dispatchEvent(new Event('error'));
  }
}

/** @param {import('node:test').TestContext} context @param {() => Promise<Response>} [probe] */
function connect(context, probe = async () => new Response('', { status: 503 })) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  /** @type {Source[]} */
  const sources = [];
  /** @type {string[]} */
  const log = [];
  const connection = new StreamConnection({
    url: URL,
    open: (url) => /** @type {any} */ (sources[sources.push(new Source(url)) - 1]),
    probe,
    redirect: (url) => log.push(url),
    onUnused: () => log.push('unused'),
  });
  return { connection, sources, log };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('subscribers share a connection, which ends a moment after the last of them', (context) => {
  const { connection, sources, log } = connect(context);
  const leaveOne = connection.subscribe(
    () => {},
    10,
    () => {},
  );
  const leaveOther = connection.subscribe(
    () => {},
    10,
    () => {},
  );
  assert.equal(sources.length, 1);
  leaveOne();
  leaveOther();
  const leaveAgain = connection.subscribe(
    () => {},
    10,
    () => {},
  ); // as with new code
  context.mock.timers.tick(1000);
  assert.equal(sources[0].readyState, 0);
  leaveAgain();
  context.mock.timers.tick(1000);
  assert.equal(sources[0].readyState, 2);
  assert.deepEqual(log, ['unused']);
});

test('values that arrive together are one update, and the latest are kept', (context) => {
  const { connection, sources } = connect(context);
  const listener = mock.fn();
  /** @type {any[]} */
  const each = [];
  connection.subscribe(listener, 3, (value) => each.push(value));
  sources[0].open();
  assert.equal(connection.snapshot().status, 'open');
  const before = listener.mock.callCount();
  for (let number = 0; number < 10; number += 1) sources[0].send(number);
  context.mock.timers.tick(20);
  assert.ok(listener.mock.callCount() <= before + 2);
  const { values, last, missed, error } = connection.snapshot();
  assert.deepEqual(
    { values, last, missed, error },
    { values: [7, 8, 9], last: 9, missed: 0, error: null },
  );
  assert.equal(each.length, 10);
});

test('lost values are counted as far as anybody knows', (context) => {
  const { connection, sources } = connect(context);
  connection.subscribe(
    () => {},
    3,
    () => {},
  );
  for (const [count, expected] of [
    [2, 2],
    [3, 5],
    [null, null],
    [1, null],
  ]) {
    sources[0].send({ count }, '', 'missed');
    context.mock.timers.tick(20);
    assert.equal(connection.snapshot().missed, expected);
  }
});

test('a lost connection is left to the browser', (context) => {
  const { connection, sources } = connect(context);
  connection.subscribe(
    () => {},
    3,
    () => {},
  );
  sources[0].open();
  sources[0].fail(0);
  context.mock.timers.tick(60_000);
  assert.equal(connection.snapshot().status, 'connecting');
  assert.equal(sources.length, 1);
});

test('after a response that is no stream another attempt begins behind the last id', async (context) => {
  const { connection, sources } = connect(context);
  connection.subscribe(
    () => {},
    3,
    () => {},
  );
  sources[0].send(1, '7-1');
  sources[0].fail(2);
  await settled();
  context.mock.timers.tick(1000);
  assert.equal(sources[1].url, `${URL}?after=7-1`);
  sources[1].fail(2);
  await settled();
  context.mock.timers.tick(400);
  assert.equal(sources.length, 2);
  context.mock.timers.tick(1000);
  assert.equal(sources.length, 3);
});

test('a rejection is final, with its message', async (context) => {
  const rejected = async () => Response.json({ ok: false, error: 'Not you.' }, { status: 403 });
  const { connection, sources } = connect(context, rejected);
  connection.subscribe(
    () => {},
    3,
    () => {},
  );
  sources[0].fail(2);
  await settled();
  context.mock.timers.tick(60_000);
  const { status, error } = connection.snapshot();
  assert.deepEqual({ status, error }, { status: 'closed', error: 'Not you.' });
  assert.equal(sources.length, 1);
});

test('the last event closes the connection', (context) => {
  const { connection, sources, log } = connect(context);
  connection.subscribe(
    () => {},
    3,
    () => {},
  );
  sources[0].send(1);
  sources[0].send({ ok: true, redirect: '/login' }, '', 'end');
  assert.equal(sources[0].readyState, 2);
  const { status, values, error } = connection.snapshot();
  assert.deepEqual({ status, values, error }, { status: 'closed', values: [1], error: null });
  assert.deepEqual(log, ['/login']);
});

test('the URL has the path of the page, and the query alone', () => {
  const options = { base: '/app', page: '/app/rooms/a%20b?x=1', name: 'feed' };
  assert.equal(streamUrl(options), '/app/api/__streams/rooms/a%20b/feed');
  assert.equal(
    streamUrl({ ...options, page: '/', query: { room: 'a b', n: 1 } }),
    '/app/api/__streams/index/feed?room=a+b&n=1',
  );
});
