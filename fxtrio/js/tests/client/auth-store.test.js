import assert from 'node:assert/strict';
import test from 'node:test';

import { AuthStore } from '../../client/auth/auth-store.js';

/**
 * @param {Record<string, object>} answers by the last part of the URL
 * @returns {AuthStore}
 */
function makeStore(answers) {
  const fetch = async (/** @type {any} */ url) =>
    new Response(JSON.stringify(answers[String(url).split('/').at(-1) ?? '']), {
      headers: { 'content-type': 'application/json' },
    });
  return new AuthStore({ fetch, base: '', cookies: () => '' });
}

const USER = { id: 1 };

test('a login that fails is told until one succeeds', async () => {
  /** @type {Record<string, object>} */
  const answers = { session: { ok: true, user: null }, login: { ok: false, error: 'Wrong.' } };
  const store = makeStore(answers);
  await store.ensure();

  await store.post('login', {});
  assert.deepEqual(store.snapshot(), { status: 'signed-out', user: null, error: 'Wrong.' });
  answers.login = { ok: true, user: USER };
  await store.post('login', {});
  assert.deepEqual(store.snapshot(), { status: 'signed-in', user: USER, error: null });
});

test('a registration that fails is told and changes nobody', async () => {
  const store = makeStore({ register: { ok: false, error: 'Taken.' }, session: { user: USER } });

  await store.post('register', {});
  assert.deepEqual(store.snapshot(), { status: 'loading', user: null, error: 'Taken.' });
  await store.ensure();
  assert.deepEqual(store.snapshot(), { status: 'signed-in', user: USER, error: null });
});
