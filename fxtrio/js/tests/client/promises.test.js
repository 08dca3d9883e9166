import assert from 'node:assert/strict';
import test from 'node:test';

import { PAYLOAD_LINES } from '../../client/navigation/visits/payload.js';
import { bindPromises, DeferredError, Promises } from '../../client/view/promises.js';
import { describe } from '../../client/view/boundary.js';
import { requestVisit } from '../../client/navigation/visits/visit.js';

/** @param {object} [changes] */
function stateOf(changes = {}) {
  return /** @type {any} */ ({
    layouts: [],
    props: { data: { title: 'A' }, layoutData: {} },
    promises: ['page:a:b'],
    ...changes,
  });
}

/** @param {string} message */
function errorOf(message) {
  return { message, statusCode: 410, type: 'LoaderError', data: { x: 1 }, requestId: '' };
}

test('a key may have a colon, and a value may come before it is bound', async () => {
  const promises = new Promises();
  promises.settle(['page:a:b', [1], false]);
  const state = stateOf();
  bindPromises(state, promises.of);
  assert.equal(state.props.data['a:b'].status, 'fulfilled');
  assert.deepEqual(await state.props.data['a:b'], [1]);
});

test('a promise that React already waits for is settled', async () => {
  const promises = new Promises();
  const promise = promises.of('page:x');
  promise.status = 'pending'; // what `use` notes on it
  promises.settle(['page:x', 1, false]);
  promises.settle(['page:x', 2, false]);
  assert.equal(await promise, 1);
});

test('a value that is there is a promise as well, once', () => {
  const state = stateOf({ promises: ['page:title'] });
  bindPromises(state);
  const { title } = state.props.data;
  bindPromises(state);
  assert.equal(state.props.data.title, title);
  assert.equal(title.value, 'A');
});

test('promises of layouts are in what is inside of them', () => {
  const promises = new Promises();
  const one = stateOf({ layouts: [null, true], promises: ['1:menu'] });
  bindPromises(one, promises.of);
  assert.equal(one.props.layoutData.menu, promises.of('1:menu'));
  const layouts = [{ name: 'outer' }, { name: 'inner' }];
  const two = stateOf({ layouts, promises: ['0:menu', '1:other'] });
  bindPromises(two, promises.of);
  assert.deepEqual(Object.keys(two.props.layoutData), ['name', 'menu', 'other']);
  assert.equal(two.props.layoutData.name, 'inner');
});

test('a failure is what the error page gets; at the end of the response the rest fails', async () => {
  const promises = new Promises();
  const [failed, lost] = [promises.of('page:x'), promises.of('page:y')];
  promises.settle(['page:x', errorOf('No reviews'), true]);
  promises.end();
  await assert.rejects(failed, DeferredError);
  assert.deepEqual(describe(failed.reason), errorOf('No reviews'));
  await assert.rejects(lost, /connection was lost/);
  await assert.rejects(promises.of('page:late'), /connection was lost/);
});

test('the lines of a navigation settle its promises, and `stop` ends the response', async () => {
  const page = { module: '/_fx/a.js', build: 'b1', layouts: [] };
  const first = stateOf({ ok: true, page, head: [], promises: ['page:x', 'page:y'] });
  let isCancelled = false;
  /** @type {any} */
  let controller;
  const body = new ReadableStream({
    start: (value) => (controller = value),
    cancel: () => {
      isCancelled = true;
    },
  });
  const encoder = new TextEncoder();
  controller.enqueue(encoder.encode(`${JSON.stringify(first)}\n["page:x",`));
  const headers = { 'content-type': PAYLOAD_LINES };
  const fetch = /** @type {any} */ (async () => new Response(body, { headers }));
  const url = new URL('https://app.test/a');
  const visit = /** @type {any} */ (await requestVisit(url, { fetch, build: 'b1', base: '' }));
  const { data } = visit.state.props;
  controller.enqueue(encoder.encode('"ü",false]\n'));
  assert.equal(await data.x, 'ü');
  for (const stop of visit.state.stops) stop();
  await assert.rejects(data.y, /connection was lost/);
  assert.equal(isCancelled, true);
});

test('a key may have the name of what every object has', () => {
  const promises = new Promises();
  const layouts = [JSON.parse('{"__proto__": {"menu": 1}}'), { constructor: 2 }];
  const names = ['page:__proto__', 'page:constructor', '1:__proto__'];
  const { props } = stateOf({ layouts, promises: names });
  bindPromises(/** @type {any} */ ({ layouts, props, promises: names }), promises.of);
  for (const key of ['__proto__', 'constructor']) {
    assert.equal(
      Object.getOwnPropertyDescriptor(props.data, key)?.value,
      promises.of(`page:${key}`),
    );
  }
  assert.equal(Object.getPrototypeOf(props.data), Object.prototype);
  assert.deepEqual(Object.keys(props.layoutData), ['__proto__', 'constructor']);
  assert.equal(props.layoutData.menu, undefined);
});
