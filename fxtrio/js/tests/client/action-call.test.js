import assert from 'node:assert/strict';
import test from 'node:test';

import { actionUrl, callAction, csrfToken } from '../../client/actions/action-call.js';

/**
 * @param {object} options
 * @param {() => Promise<Response>} options.answer
 * @param {unknown} [options.payload]
 * @param {string} [options.cookies]
 */
async function call({ answer, payload, cookies = '' }) {
  /** @type {any[]} */
  const requests = [];
  /** @type {string[]} */
  const invalidated = [];
  const result = await callAction({
    fetch: /** @type {any} */ (
      async (/** @type {string} */ url, /** @type {object} */ options) => {
        requests.push({ url, ...options });
        return answer();
      }
    ),
    url: '/api/__actions/index/save',
    payload,
    cookies,
    invalidate: (url) => invalidated.push(url),
  });
  return { result, request: requests[0], invalidated };
}

/**
 * @param {unknown} body
 * @param {number} [status]
 * @param {Record<string, string>} [headers]
 */
const json = (body, status = 200, headers = {}) =>
  call({ answer: async () => Response.json(body, { status, headers }) });

test('the URL names the concrete page without base, and has its query', () => {
  const url = (/** @type {string} */ page, base = '') => actionUrl({ base, page, name: 'save' });
  assert.equal(url('/?x=1&y=%26#top'), '/api/__actions/index/save?x=1&y=%26');
  assert.equal(url('/blog/a%20b?'), '/api/__actions/blog/a%20b/save');
  assert.equal(url('/app/blog', '/app'), '/app/api/__actions/blog/save');
  assert.equal(url('/app', '/app'), '/app/api/__actions/index/save');
});

test('the URL of an action of a module names no page', () => {
  const url = actionUrl({ base: '/app', page: '/app/blog?x=1', name: 'billing.save' });
  assert.equal(url, '/app/api/__actions/billing.save');
});

test('success has the keys of the returned dict, and no fields', async () => {
  const { result } = await json({ ok: true, id: 5 });
  assert.deepEqual(result, { ok: true, id: 5, fields: {} });
});

test('a refusal has its message and its fields', async () => {
  const failure = { ok: false, error: 'Validation failed', fields: { name: ['Too short'] } };
  assert.deepEqual((await json(failure, 422)).result, failure);
});

test('an answer that is none is an error with its status', async () => {
  const { result } = await call({ answer: async () => new Response('<h1>', { status: 502 }) });
  assert.deepEqual(result, {
    ok: false,
    error: 'The server responded with status 502.',
    fields: {},
  });
});

test('a server that cannot be reached is an error, not an exception', async () => {
  const { result } = await call({ answer: () => Promise.reject(new TypeError('failed')) });
  assert.equal(result.ok, false);
  assert.match(String(result.error), /could not be reached/);
});

test('URLs that the action names are invalidated, also after a failure', async () => {
  const { invalidated } = await json({ ok: false, error: 'x' }, 400, {
    'x-fx-invalidate': '/todos, /a?b=1',
  });
  assert.deepEqual(invalidated, ['/todos', '/a?b=1']);
});

test('forms are sent as they are, nothing as no body, all else as JSON', async () => {
  const answer = async () => Response.json({ ok: true });
  const form = new FormData();
  form.append('tag', 'a');
  form.append('tag', 'b');
  const sent = (await call({ answer, payload: form })).request;
  assert.equal(sent.body, form);
  assert.equal(sent.headers['content-type'], undefined, 'the browser writes it with the boundary');
  assert.equal((await call({ answer })).request.body, undefined);
  const object = (await call({ answer, payload: { a: [1] } })).request;
  assert.equal(object.body, '{"a":[1]}');
  assert.equal(object.headers['content-type'], 'application/json');
});

/** @type {[string, string, Record<string, number>][]} */
const WITHOUT_OK = [
  ['a JSON object', '{"n":1}', { n: 1 }],
  ['an ok that is no boolean', '{"ok":"yes","n":1}', { n: 1 }],
  ['an array', '[1]', {}],
  ['text', 'done', {}],
  ['nothing', '', {}],
  ['null', 'null', {}],
];
for (const [name, body, keys] of WITHOUT_OK) {
  test(`a 2xx response without ok is a success with its keys: ${name}`, async () => {
    const { result } = await call({ answer: async () => new Response(body, { status: 201 }) });
    assert.deepEqual(result, { ok: true, ...keys, fields: {} });
  });
}

test('a 204 is a success', async () => {
  const { result } = await call({ answer: async () => new Response(null, { status: 204 }) });
  assert.deepEqual(result, { ok: true, fields: {} });
});

test('a page that a redirect has led to is a failure', async () => {
  const followed = Object.defineProperty(new Response('<h1>'), 'redirected', { value: true });
  const { result } = await call({ answer: async () => followed });
  assert.equal(result.ok, false);
});

test('it asks for JSON, so that a form is not answered with a page', async () => {
  const { request } = await json({ ok: true });
  assert.equal(request.headers.accept, 'application/json, text/event-stream');
});

test('the token of the cookie is sent back', async () => {
  const answer = async () => Response.json({ ok: true });
  const { request } = await call({ answer, cookies: 'a=1; fx-csrf=n.s=; b=2' });
  assert.equal(request.headers['x-csrf-token'], 'n.s=');
  assert.equal((await call({ answer })).request.headers['x-csrf-token'], undefined);
});

/**
 * Call an action of a server that takes one token.
 *
 * @param {{ good: string, fresh: unknown, cookies: string }} options
 */
async function callWithToken({ good, fresh, cookies }) {
  /** @type {string[]} */
  const requests = [];
  const result = await callAction({
    fetch: /** @type {any} */ (
      async (/** @type {string} */ url, /** @type {any} */ { headers }) => {
        requests.push(url);
        if (url.endsWith('/__csrf')) return Response.json({ token: fresh });
        if (headers['x-csrf-token'] === good) return Response.json({ ok: true });
        const error = 'Der Schlüssel gilt nicht für diese Sitzung.'; // it may be translated
        return Response.json({ ok: false, error, code: 'csrf_token' }, { status: 403 });
      }
    ),
    url: '/app/api/__actions/index/save',
    payload: {},
    cookies,
    invalidate: () => {},
  });
  return { ok: result.ok, requests: requests.length, last: requests[1] };
}

test('a token of another session is replaced, and the action called once more', async () => {
  const renewed = await callWithToken({ good: 'new', fresh: 'new', cookies: 'fx-csrf=old' });
  assert.deepEqual(renewed, { ok: true, requests: 3, last: '/app/api/__csrf' });
  assert.equal((await callWithToken({ good: 'new', fresh: 'new', cookies: '' })).ok, true);
});

test('a refusal that a new token does not change is final', async () => {
  const rejected = await callWithToken({ good: 'no', fresh: 'new', cookies: 'fx-csrf=old' });
  assert.deepEqual([rejected.ok, rejected.requests], [false, 3]);
  const same = await callWithToken({ good: 'no', fresh: 'old', cookies: 'fx-csrf=old' });
  assert.deepEqual([same.ok, same.requests], [false, 2]);
  const none = await callWithToken({ good: 'no', fresh: null, cookies: 'fx-csrf=old' });
  assert.deepEqual([none.ok, none.requests], [false, 2]);
});

test('the cookie that is bound to the host comes first', () => {
  assert.equal(csrfToken('fx-csrf=old; __Host-fx-csrf=new'), 'new');
  assert.equal(csrfToken('not-fx-csrf=x'), null);
});
