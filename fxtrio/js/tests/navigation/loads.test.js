import assert from 'node:assert/strict';
import test from 'node:test';

import { Loads, WAITING } from '../../client/navigation/loads.js';
import { Payloads } from '../../client/navigation/visits/payloads.js';

const CART = new URL('https://app.test/cart');

/** A server whose answers the test gives, with the app's loads. */
class Server {
  /** @type {{ url: URL, signal?: AbortSignal, fresh?: boolean, answer: (visit: any) => void, fail: () => void }[]} */
  requests = [];
  loads = new Loads(
    new Payloads(
      (url, { signal, fresh }) =>
        new Promise((answer, fail) => {
          const failed = () => fail(new TypeError('offline'));
          this.requests.push({ url, signal, fresh, answer, fail: failed });
        }),
      () => 0,
    ),
  );
}

/**
 * @param {object} data
 * @param {object} [more]
 */
function view(data, more = {}) {
  return { kind: 'view', url: CART.href, state: { ok: true, ttl: 0, props: { data }, ...more } };
}

/** Everything that waits for nothing else has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('components that name the same page share one request', async () => {
  const { requests, loads } = new Server();
  /** @type {number[]} */
  const changes = [];
  const ends = [1, 2].map((one) => loads.of(CART).subscribe(() => changes.push(one)));
  assert.equal(loads.of(CART).snapshot(), WAITING);

  requests[0].answer(view({ count: 3 }));
  await settled();

  assert.deepEqual(loads.of(CART).snapshot(), { data: { count: 3 }, error: null, pending: false });
  assert.deepEqual(changes, [1, 2]);
  loads.of(CART).subscribe(() => {});
  assert.equal(requests.length, 1);
  ends.forEach((end) => end());
});

test('the last component that leaves aborts the request, and one that comes back does not', async () => {
  const { requests, loads } = new Server();
  const load = loads.of(CART);
  load.subscribe(() => {})();
  const end = load.subscribe(() => {});
  await settled();
  assert.equal(requests[0].signal?.aborted, false);

  end();
  await settled();

  assert.equal(requests[0].signal?.aborted, true);
  load.subscribe(() => {});
  assert.equal(requests.length, 2);
});

test('data stays until newer data has come, and deferred values of both end in time', async () => {
  const { requests, loads } = new Server();
  /** @type {string[]} */
  const stopped = [];
  const load = loads.of(CART);
  const end = load.subscribe(() => {});
  requests[0].answer(view({ count: 1 }, { stops: [() => stopped.push('first')] }));
  await settled();

  const again = loads.refresh((url) => url.pathname === '/cart');
  assert.deepEqual(load.snapshot(), { data: { count: 1 }, error: null, pending: true });
  assert.equal(requests[1].fresh, true);
  requests[1].answer(view({ count: 2 }, { stops: [() => stopped.push('second')] }));
  await again;

  assert.deepEqual(load.snapshot(), { data: { count: 2 }, error: null, pending: false });
  assert.deepEqual(stopped, ['first']);
  end();
  await settled();
  assert.deepEqual(stopped, ['first', 'second']);
  await loads.refresh();
  assert.equal(requests.length, 2);
});

test('what comes for an older request is dropped', async () => {
  const { requests, loads } = new Server();
  const load = loads.of(CART);
  load.subscribe(() => {});
  const again = load.refresh();
  requests[1].answer(view({ count: 2 }));
  await again;

  requests[0].answer(view({ count: 1 }));
  await settled();

  assert.equal(load.snapshot().data.count, 2);
});

const error = { message: 'No cart.', statusCode: 404, type: 'NotFound', data: {}, requestId: '' };
for (const { name, visit, expected } of [
  { name: 'a failed page', visit: view({}, { ok: false, error }), expected: error },
  {
    name: 'a redirect',
    visit: { kind: 'redirect', url: '/login' },
    expected: {
      message: 'The page redirects to /login.',
      statusCode: 303,
      type: 'Redirect',
      data: { url: '/login' },
      requestId: '',
    },
  },
  {
    name: 'a document',
    visit: { kind: 'document' },
    expected: {
      message: 'The response is not a page of this build. Reload the page.',
      statusCode: 404,
      type: 'NoPage',
      data: {},
      requestId: '',
    },
  },
]) {
  test(`${name} is an error`, async () => {
    const { requests, loads } = new Server();
    const load = loads.of(CART);
    load.subscribe(() => {});
    requests[0].answer(visit);
    await settled();

    assert.deepEqual(load.snapshot(), { data: null, error: expected, pending: false });
  });
}

test('a server that cannot be reached is an error, and data may come later', async () => {
  const { requests, loads } = new Server();
  const load = loads.of(CART);
  load.subscribe(() => {});
  requests[0].fail();
  await settled();
  assert.equal(load.snapshot().error?.type, 'ConnectionLost');

  const again = load.refresh();
  requests[1].answer(view({ count: 1 }));
  await again;
  assert.deepEqual(load.snapshot(), { data: { count: 1 }, error: null, pending: false });
});
