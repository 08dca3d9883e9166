import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { PAYLOAD } from '../../client/navigation/visits/payload.js';
import { requestVisit } from '../../client/navigation/visits/visit.js';

const PAGE = { ok: true, page: { module: '/_fx/a.js', build: 'b1' }, head: [] };

/**
 * @param {unknown} body
 * @param {object} [options]
 * @param {Record<string, string>} [options.headers]
 * @param {number} [options.status]
 * @param {string} [options.redirectedTo]
 * @param {string} [options.path]
 */
async function visit(body, { headers = {}, status = 200, redirectedTo, path = '/a?x=1' } = {}) {
  /** @type {any[]} */
  const requests = [];
  const fetch = /** @type {any} */ (
    async (/** @type {string} */ path, /** @type {any} */ options) => {
      requests.push({ path, ...options });
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const response = new Response(text, {
        status,
        headers: { 'content-type': PAYLOAD, ...headers },
      });
      if (redirectedTo !== undefined) {
        Object.defineProperties(response, {
          redirected: { value: true },
          url: { value: redirectedTo },
        });
      }
      return response;
    }
  );
  const url = new URL(`https://app.test${path}#y`);
  return { result: await requestVisit(url, { fetch, build: 'b1', base: '' }), requests };
}

test('the page’s own URL is asked for, as a navigation', async () => {
  const { result, requests } = await visit(PAGE);
  assert.deepEqual(result, { kind: 'view', state: PAGE, url: 'https://app.test/a?x=1#y' });
  assert.equal(requests[0].path, 'https://app.test/a?x=1');
  assert.equal(requests[0].headers['x-fx-navigation'], '1');
});

test('a path that looks like another host is asked of this one', async () => {
  const { requests } = await visit(PAGE, { path: '/..//evil.test/x' });
  assert.equal(requests[0].path, 'https://app.test//evil.test/x');
});

test('what another site answers after a redirect is no payload', async () => {
  const { result } = await visit(PAGE, { redirectedTo: 'https://evil.test/a' });
  assert.deepEqual(result, { kind: 'document' });
});

test('an error page is a page', async () => {
  const error = { ...PAGE, ok: false, statusCode: 500, error: 'Broken' };
  const { result } = await visit(error, { status: 500 });
  assert.deepEqual(result.kind === 'view' && result.state, error);
});

test('a redirect may be in the payload or in the response', async () => {
  const inPayload = await visit({ ok: true, redirect: '/login' });
  assert.deepEqual(inPayload.result, { kind: 'redirect', url: '/login' });
  const followed = await visit(PAGE, { redirectedTo: 'https://app.test/b' });
  assert.equal(followed.result.kind === 'view' && followed.result.url, 'https://app.test/b');
});

for (const [what, body, options] of /** @type {[string, any, any][]} */ ([
  ['JSON of an application', PAGE, { headers: { 'content-type': 'application/json' } }],
  ['a page of another build', { ...PAGE, page: { ...PAGE.page, build: 'b2' } }, {}],
  ['HTML', '<!doctype html>', { headers: { 'content-type': 'text/html' } }],
  ['broken JSON', '{"ok":', {}],
  ['an error that has no page', { ok: false, error: 'Busy', boundary: null }, { status: 503 }],
  ['JSON that is no object', 'null', {}],
])) {
  test(`${what} means that the document must be loaded`, async () => {
    assert.deepEqual((await visit(body, options)).result, { kind: 'document' });
  });
}

const WIRE = new URL('../../../../tests/wire/payloads.json', import.meta.url);
for (const { name, type, body, kind } of JSON.parse(readFileSync(WIRE, 'utf8')).cases) {
  test(`wire: ${name} is a ${kind}`, async () => {
    const fetch = /** @type {any} */ (
      async () => new Response(JSON.stringify(body), { headers: { 'content-type': type } })
    );
    const url = new URL('https://app.test/shop/a');
    const visit = await requestVisit(url, { fetch, build: 'b1', base: '/shop' });
    assert.equal(visit.kind, kind);
  });
}

test('of an exported site the payload is the file beside the page, whatever the query', async () => {
  /** @type {string[]} */
  const requests = [];
  /** @type {Record<string, string>} */
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const fetch = /** @type {any} */ (
    async (/** @type {string} */ url) => {
      requests.push(url);
      return Response.json({ ...PAGE, requestedPath: '/a' }, { headers });
    }
  );
  const app = { fetch, build: 'b1', base: '', exported: true };
  const there = await requestVisit(new URL('https://app.test/a/?x=1#y'), app);
  await requestVisit(new URL('https://app.test/'), app);
  assert.deepEqual(requests, ['https://app.test/a/__fx.json', 'https://app.test/__fx.json']);
  const state = { ...PAGE, requestedPath: '/a?x=1' };
  assert.deepEqual(there, { kind: 'view', state, url: 'https://app.test/a/?x=1#y' });
  headers['content-type'] = 'text/html';
  const page = await requestVisit(new URL('https://app.test/b'), app);
  assert.deepEqual(page, { kind: 'document' });
});
