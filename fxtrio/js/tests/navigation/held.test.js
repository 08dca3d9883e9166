import assert from 'node:assert/strict';
import test from 'node:test';

import { Router } from '../../client/navigation/visits/router.js';

test('who waits within a transition that holds the page back is not held up by it', async () => {
  let arrivals = 0;
  let show = () => {};
  /** @type {any} */
  const stage = {
    url: () => new URL('https://app.test/'),
    keepScroll: () => {},
    push: () => {},
    load: async () => ({}),
    show: (/** @type {any} */ _view, /** @type {() => void} */ held) => {
      held();
      return new Promise((resolve) => {
        show = () => resolve(undefined);
      });
    },
    arrive: () => (arrivals += 1),
  };
  /** @type {any} */
  const payloads = {
    take: async (/** @type {URL} */ url) => ({ kind: 'view', url: url.href, state: { page: {} } }),
  };
  const router = new Router({ stage, payloads, base: '' });

  await router.navigate('/a');

  assert.deepEqual(router.snapshot(), { state: 'loading', to: '/a' }, 'it is not on the screen');
  assert.equal(arrivals, 0);
  show();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(router.snapshot().state, 'idle');
  assert.equal(arrivals, 1);
});
