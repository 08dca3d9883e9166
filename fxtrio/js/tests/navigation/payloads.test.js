import assert from 'node:assert/strict';
import test from 'node:test';

import { Payloads } from '../../client/navigation/visits/payloads.js';

/** A server that counts, and a clock that stands still unless it is moved. */
function setUp({ ttl = 0, ok = true } = {}) {
  const clock = { now: 0 };
  /** @type {string[]} */
  const requests = [];
  const server = {
    /** @type {(url: URL, options: object) => Promise<any>} */
    answer: async (url) => ({
      kind: 'view',
      url: url.href,
      state: { ok, ttl, n: requests.length },
    }),
  };
  const payloads = new Payloads(
    (url, options) => {
      requests.push(url.pathname + url.search);
      return server.answer(url, options);
    },
    () => clock.now,
  );
  return { payloads, requests, clock, server };
}

/** @param {string} path */
const url = (path) => new URL(path, 'https://app.test');

test('a page without a time to live is asked for each time', async () => {
  const { payloads, requests } = setUp();
  await payloads.take(url('/a'));
  await payloads.take(url('/a'));
  assert.deepEqual(requests, ['/a', '/a']);
  assert.equal(payloads.size, 0);
});

test('a prefetch and the navigation after it ask once', async () => {
  const { payloads, requests } = setUp();
  await payloads.prefetch(url('/a?x=1'));
  await payloads.prefetch(url('/a?x=1'));
  const visit = await payloads.take(url('/a?x=1#part'));
  assert.equal(visit.kind, 'view');
  assert.deepEqual(requests, ['/a?x=1']);
});

test('a navigation uses the prefetch that is still on its way', async () => {
  const { payloads, requests } = setUp();
  const prefetched = payloads.prefetch(url('/a'));
  const taken = payloads.take(url('/a'));
  assert.equal(await prefetched, await taken);
  assert.deepEqual(requests, ['/a']);
  assert.equal(payloads.size, 0, 'it is used up');
});

test('a prefetch serves one navigation, and waits half a minute for it', async () => {
  const { payloads, requests, clock } = setUp();
  await payloads.prefetch(url('/a'));
  await payloads.take(url('/a'));
  await payloads.take(url('/a'));
  assert.equal(requests.length, 2);
  await payloads.prefetch(url('/b'));
  clock.now += 30_000;
  await payloads.take(url('/b'));
  assert.equal(requests.length, 4);
});

test('a page is shown again until its time to live is over', async () => {
  const { payloads, requests, clock } = setUp({ ttl: 10 });
  await payloads.take(url('/a'));
  clock.now += 9_999;
  await payloads.take(url('/a'));
  assert.equal(requests.length, 1);
  clock.now += 1;
  await payloads.take(url('/a'));
  assert.equal(requests.length, 2);
});

test('a prefetched page with a time to live serves several navigations', async () => {
  const { payloads, requests } = setUp({ ttl: 10 });
  await Promise.all([payloads.prefetch(url('/a')), payloads.take(url('/a'))]);
  await payloads.take(url('/a'));
  assert.equal(requests.length, 1);
});

test('failures have no time to live', async () => {
  const { payloads, requests } = setUp({ ttl: 10, ok: false });
  await payloads.take(url('/a'));
  await payloads.take(url('/a'));
  assert.equal(requests.length, 2);
});

test('what is asked for afresh comes past everything that is kept', async () => {
  const { payloads, requests, server } = setUp({ ttl: 10 });
  /** @type {object[]} */
  const options = [];
  await payloads.take(url('/a'));
  const answer = server.answer;
  server.answer = (to, passed) => {
    options.push(passed);
    return answer(to, passed);
  };
  const visit = await payloads.take(url('/a'), { fresh: true });
  assert.equal(requests.length, 2);
  assert.equal(/** @type {any} */ (options[0]).fresh, true);
  assert.equal(await payloads.take(url('/a')), visit, 'it is what is kept from now on');
});

test('what is asked for afresh takes the place of what was kept', async () => {
  const { payloads, requests, server } = setUp({ ttl: 60 });
  await payloads.take(url('/a'));
  server.answer = async () => ({ kind: 'redirect', url: '/b' }); // it has no time to live
  await payloads.take(url('/a'), { fresh: true });
  await payloads.take(url('/a'));
  assert.deepEqual(requests, ['/a', '/a', '/a']);
});

test('prefetched pages are forgotten when something changes, also those on their way', async () => {
  const { payloads, requests } = setUp();
  await payloads.prefetch(url('/a'));
  const underWay = payloads.prefetch(url('/b'));
  payloads.forgetPrefetched();
  await underWay;
  await payloads.take(url('/a'));
  await payloads.take(url('/b'));
  assert.deepEqual(requests, ['/a', '/b', '/a', '/b']);
});

test('what has a time to live stays when prefetched pages are forgotten', async () => {
  const { payloads, requests } = setUp({ ttl: 60 });
  await payloads.prefetch(url('/a'));
  payloads.forgetPrefetched();
  await payloads.take(url('/a'));
  assert.deepEqual(requests, ['/a']);
});

test('an invalidated path is forgotten with all of its queries', async () => {
  const { payloads, requests } = setUp({ ttl: 10 });
  for (const path of ['/a', '/a?x=1', '/a/b', '/ab']) await payloads.take(url(path));
  payloads.invalidate(url('/a'));
  requests.length = 0;
  for (const path of ['/a', '/a?x=1', '/a/b', '/ab']) await payloads.take(url(path));
  assert.deepEqual(requests, ['/a', '/a?x=1']);
});

test('an invalidated query leaves the others', async () => {
  const { payloads, requests } = setUp({ ttl: 10 });
  for (const path of ['/a', '/a?x=1']) await payloads.take(url(path));
  payloads.invalidate(url('/a?x=1'));
  requests.length = 0;
  for (const path of ['/a', '/a?x=1']) await payloads.take(url(path));
  assert.deepEqual(requests, ['/a?x=1']);
});

test('an answer that was on its way while its URL was invalidated is not kept', async () => {
  const { payloads, requests } = setUp({ ttl: 10 });
  const taken = payloads.take(url('/a'));
  const prefetched = payloads.prefetch(url('/b'));
  payloads.invalidate();
  await Promise.all([taken, prefetched]);
  requests.length = 0;
  await payloads.take(url('/a'));
  await payloads.take(url('/b'));
  assert.deepEqual(requests, ['/a', '/b']);
});

test('a prefetch that fails is no error, and the navigation asks again', async () => {
  const { payloads, requests, server } = setUp();
  const answer = server.answer;
  server.answer = async () => {
    throw new TypeError('offline');
  };
  const prefetched = payloads.prefetch(url('/a'));
  const taken = payloads.take(url('/a'));
  server.answer = answer;
  assert.equal(await prefetched, null);
  assert.equal((await taken).kind, 'view');
  assert.equal(requests.length, 2);
});

test('the ones asked for longest ago go first', async () => {
  const { payloads, requests } = setUp({ ttl: 100 });
  for (let number = 0; number < 50; number += 1) await payloads.take(url(`/${number}`));
  await payloads.take(url('/0'));
  await payloads.take(url('/50'));
  assert.equal(payloads.size, 50);
  requests.length = 0;
  await payloads.take(url('/0'));
  await payloads.take(url('/1'));
  assert.deepEqual(requests, ['/1']);
});

test('a tag forgets what its loaders have tagged, and what is still on its way', async () => {
  /** @type {((visit: any) => void)[]} */
  const answers = [];
  const payloads = new Payloads(
    () => new Promise((answer) => answers.push(answer)),
    () => 0,
  );
  const at = (/** @type {string} */ path) => new URL(path, 'https://app.test');
  const view = (/** @type {string[] | undefined} */ tags) => ({
    kind: 'view',
    url: 'https://app.test/',
    state: { ok: true, ttl: 60, tags },
  });
  const taken = [payloads.take(at('/cart')), payloads.take(at('/about'))];
  answers[0](view(['cart', 'user']));
  answers[1](view(undefined));
  await Promise.all(taken);
  const later = payloads.take(at('/late'));
  void payloads.prefetch(at('/next'));
  assert.equal(payloads.size, 3);

  payloads.invalidateTag('cart');
  answers[2](view(['cart']));
  await later;

  assert.equal(payloads.size, 1);
});
