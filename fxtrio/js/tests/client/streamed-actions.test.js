import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callAction } from '../../client/actions/action-call.js';
import { readEvents } from '../../client/live/event-stream.js';
import { Reading } from '../../client/actions/reading.js';
import { stateOf } from '../../client/actions/use-action.js';

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
  const shown = [];
  const reduce = (/** @type {string} */ all, /** @type {string} */ part) => all + part;
  const reading = new Reading({ reduce, initial: '' }, (data) => shown.push(data));
  const result = await call(bodyOf(['data: "a"\n\ndata: "b"\n\n', `data: "c"\n\n${END}`]), reading);
  assert.deepEqual(shown, ['', 'ab', 'abc']);
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
