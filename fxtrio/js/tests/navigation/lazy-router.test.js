import assert from 'node:assert/strict';
import test from 'node:test';

import { IDLE, LazyRouter } from '../../client/navigation/lazy-router.js';

/** A browser at a page, and the code of navigations, which comes when `come` is called. */
function browserAt(href = 'https://app.test/shop') {
  /** @type {string[]} */
  const done = [];
  /** @type {(() => void)[]} */
  const listeners = [];
  let status = IDLE;
  const note =
    (/** @type {string} */ name) =>
    async (/** @type {any[]} */ ...parameters) =>
      void done.push([name, ...parameters].join(' '));
  const router = {
    snapshot: () => status,
    subscribe: (/** @type {() => void} */ listener) => listeners.push(listener),
    navigate: async (/** @type {string} */ to) => {
      done.push(`navigate ${to}`);
      status = { state: 'loading', to };
      for (const listener of listeners) listener();
    },
    pop: note('pop'),
    refresh: note('refresh'),
    prefetch: note('prefetch'),
    forgetPrefetched: () => void done.push('forget'),
  };
  const payloads = {
    take: note('take'),
    invalidate: note('invalidate'),
    invalidateTag: note('invalidateTag'),
  };
  /** @type {{ promise: Promise<any>, resolve(value: any): void, reject(error: unknown): void }[]} */
  const loads = [];
  const lazy = new LazyRouter({
    base: '/shop',
    load: () => {
      /** @type {any} */
      const load = {};
      load.promise = new Promise((resolve, reject) => Object.assign(load, { resolve, reject }));
      loads.push(load);
      return load.promise;
    },
    stage: {
      url: () => new URL(href),
      leave: (url, replace) => void done.push(`leave ${url.href}${replace ? ' replacing' : ''}`),
      stay: () => void done.push('stay'),
      reload: () => void done.push('reload'),
    },
  });
  const visits = { router, payloads };
  const come = () => loads[loads.length - 1].resolve(visits);
  const moveTo = (/** @type {string} */ to) => {
    href = new URL(to, href).href;
  };
  return { lazy, done, loads, come, moveTo };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what was asked for is done in its order when the code is there', async () => {
  const { lazy, done, loads, come, moveTo } = browserAt();
  moveTo('/shop/b');
  const all = [lazy.prefetch('/a'), lazy.navigate('/a'), lazy.pop(), lazy.refresh()];
  await settled();
  assert.deepEqual(done, []);
  come();
  await Promise.all(all);

  assert.deepEqual(done, ['prefetch /a', 'navigate /a', 'pop', 'refresh ']);
  assert.equal(loads.length, 1);
  void lazy.navigate('/b');
  assert.equal(done.at(-1), 'navigate /b', 'and at once from then on');
});

test('a navigation is loading while its code is', async () => {
  const { lazy, come } = browserAt();
  /** @type {any[]} */
  const seen = [];
  lazy.subscribe(() => seen.push(lazy.snapshot().to));
  const going = lazy.navigate('/a?b=1');
  assert.deepEqual(lazy.snapshot(), { state: 'loading', to: '/shop/a?b=1' });
  come();
  await going;

  assert.ok(seen.length > 1);
  assert.ok(!seen.includes(null), 'without a moment in which nothing is');
});

test('a place on the page is left to the browser, without any code', async () => {
  const { lazy, done, loads, moveTo } = browserAt();
  await lazy.navigate('#part');
  moveTo('#part');
  await lazy.pop();
  moveTo('/shop');
  await lazy.pop();

  assert.deepEqual(done, ['leave https://app.test/shop#part', 'stay', 'stay']);
  assert.equal(loads.length, 0);
  assert.equal(lazy.shown.href, 'https://app.test/shop');
});

test('the code does what browsers do not with a place on the page', async () => {
  for (const options of [{ replace: true }, { scroll: false }, { fresh: true }]) {
    const { lazy, done, come } = browserAt();
    const going = lazy.navigate('#part', options);
    assert.equal(lazy.snapshot(), IDLE);
    come();
    await going;

    assert.deepEqual(done, ['navigate #part']);
  }
});

test('a place on the page ends a navigation that waits for the code', async () => {
  const { lazy, done, come, moveTo } = browserAt();
  const all = [lazy.navigate('/a'), lazy.navigate('#part')];
  moveTo('#other');
  all.push(lazy.pop());
  await settled();
  assert.deepEqual(done, []);
  come();
  await Promise.all(all);

  assert.deepEqual(done, ['navigate /a', 'navigate #part', 'pop']);
});

test('without the code the shown page stays, and is loaded where its data shall be fresh', async (context) => {
  context.mock.method(console, 'error', () => {});
  const { lazy, done, loads, moveTo } = browserAt();
  moveTo('/shop/b');
  const popped = lazy.pop();
  moveTo('/shop#part');
  loads[0].reject(new TypeError('gone'));
  await popped;
  assert.deepEqual(done, ['stay']);

  const fresh = lazy.navigate('#end', { fresh: true });
  loads[1].reject(new TypeError('gone'));
  await fresh;
  assert.deepEqual(done.slice(1), ['leave https://app.test/shop#end', 'reload']);
});

test('another site is left to the browser, without any code', async () => {
  const { lazy, done, loads } = browserAt();
  await lazy.navigate('https://other.test/');

  assert.deepEqual(done, ['leave https://other.test/']);
  assert.equal(loads.length, 0);
});

test('without the code browsers load documents, and the next navigation tries again', async (context) => {
  const { lazy, done, loads, come, moveTo } = browserAt();
  moveTo('/shop/b');
  const errors = context.mock.method(console, 'error', () => {});
  const all = [lazy.navigate('/a'), lazy.pop(), lazy.refresh(), lazy.prefetch('/a')];
  const taken = assert.rejects(lazy.payloads.take(new URL('https://app.test/shop/b'), {}), /gone/);
  loads[0].reject(new TypeError('gone'));
  await Promise.all([...all, taken]);

  assert.deepEqual(done, ['leave https://app.test/shop/a', 'reload', 'reload']);
  assert.equal(errors.mock.callCount(), 4);
  assert.equal(lazy.snapshot(), IDLE);

  const again = lazy.navigate('/c');
  come();
  await again;
  assert.equal(done.at(-1), 'navigate /c');
});

test('there is nothing to forget before the code is there', async () => {
  const { lazy, done, loads, come } = browserAt();
  lazy.forgetPrefetched();
  lazy.payloads.invalidate();
  lazy.payloads.invalidateTag('a');
  assert.deepEqual([done.length, loads.length], [0, 0]);

  const ready = lazy.ready();
  come();
  await ready;
  lazy.forgetPrefetched();
  lazy.payloads.invalidate();
  lazy.payloads.invalidateTag('a');
  assert.deepEqual(done, ['forget', 'invalidate ', 'invalidateTag a']);
});

test('what replaces an entry of the history does so without the code', async (context) => {
  context.mock.method(console, 'error', () => {});
  const { lazy, done, loads } = browserAt();
  for (const [at, to] of ['#part', '/b'].entries()) {
    const going = lazy.navigate(to, { replace: true });
    loads[at].reject(new TypeError('gone'));
    await going;
  }
  await lazy.navigate('https://other.test/', { replace: true });

  assert.deepEqual(done, [
    'leave https://app.test/shop#part replacing',
    'leave https://app.test/shop/b replacing',
    'leave https://other.test/ replacing',
  ]);
});
