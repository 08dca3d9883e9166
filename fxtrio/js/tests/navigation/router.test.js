import assert from 'node:assert/strict';
import test from 'node:test';

import { Payloads } from '../../client/navigation/visits/payloads.js';
import { Router } from '../../client/navigation/visits/router.js';

/** @typedef {import('../../client/navigation/visits/router.js').Arrival} Arrival */

/** A browser that writes down what is asked of it, and a server that answers at once. */
class FakeBrowser {
  /** @type {string[]} */
  log = [];
  /** @type {Arrival[]} */
  arrivals = [];
  /** @type {string[]} */
  views = [];
  /** @type {string[]} */
  requests = [];
  href = 'https://app.test/start';
  /** What is shown. @type {any} */
  state = stateOf('/start', { title: 'old', menu: 1 });
  /** How often the data of other pages was loaded anew. */
  beside = 0;
  /** @type {(path: string, options: any) => any} */
  answer = (path) => page(path);
  /** @type {(page: any) => Promise<any>} */
  load = async (page) => page.module;

  stage = {
    url: () => new URL(this.href),
    keepScroll: () => void this.log.push('keep'),
    push: (/** @type {URL} */ url) => {
      this.log.push(`push ${url.href}`);
      this.href = url.href;
    },
    replace: (/** @type {URL} */ url) => {
      this.log.push(`replace ${url.href}`);
      this.href = url.href;
    },
    leave: (/** @type {URL} */ url, /** @type {boolean} */ replace = false) =>
      void this.log.push(`leave ${url.href}${replace ? ' replacing' : ''}`),
    reload: () => void this.log.push('reload'),
    load: (/** @type {any} */ page) => this.load(page),
    preload: (/** @type {any} */ page) => void this.log.push(`preload ${page.module}`),
    show: async (/** @type {any} */ view) => void this.views.push(view.parts),
    arrive: (/** @type {Arrival} */ arrival) => void this.arrivals.push(arrival),
    state: () => this.state,
    refreshBeside: async () => void (this.beside += 1),
  };

  /** @param {string} [base] */
  router(base = '') {
    const payloads = new Payloads(
      async (url, options) => {
        this.requests.push(url.pathname + url.search);
        return this.answer(url.pathname + url.search, options);
      },
      () => 0,
    );
    return new Router({ stage: this.stage, payloads, base });
  }
}

/**
 * @param {string} path
 * @param {object} [more]
 */
function page(path, more = {}) {
  const url = `https://app.test${path}`;
  return { kind: 'view', url, state: { ok: true, ttl: 0, page: { module: path }, ...more } };
}

/**
 * @param {string} module
 * @param {object} data
 */
function stateOf(module, data) {
  return {
    ok: true,
    ttl: 0,
    page: { module },
    layouts: [],
    props: { data, layoutData: {} },
  };
}

/** A promise that the test settles. */
function later() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(reason: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

test('a navigation loads, then changes the address, then shows and scrolls up', async () => {
  const browser = new FakeBrowser();
  await browser.router().navigate('/a?x=1');
  assert.deepEqual(browser.log, ['keep', 'push https://app.test/a?x=1']);
  assert.deepEqual(browser.views, ['/a?x=1']);
  const [{ scroll, moved }] = browser.arrivals;
  assert.deepEqual({ scroll, moved }, { scroll: 'top', moved: true });
});

test('relative URLs and queries are meant from the shown page', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.navigate('?page=2');
  assert.equal(browser.href, 'https://app.test/start?page=2');
  assert.equal(browser.arrivals[0].moved, false);
  await router.navigate('other');
  assert.equal(browser.href, 'https://app.test/other');
});

test('a newer navigation takes the place of an older one', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  /** @type {AbortSignal[]} */
  const signals = [];
  browser.answer = (path, { signal }) => {
    signals.push(signal);
    return path === '/slow' ? slow.promise : page(path);
  };
  const router = browser.router();
  const first = router.navigate('/slow');
  await router.navigate('/fast');
  assert.equal(signals[0].aborted, true);
  slow.resolve(page('/slow'));
  await first;
  assert.deepEqual(browser.views, ['/fast']);
  assert.equal(browser.href, 'https://app.test/fast');
  assert.deepEqual(router.snapshot(), { state: 'idle', to: null });
});

test('a navigation that is overtaken while its code loads shows nothing', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  browser.load = async (page) => (page.module === '/slow' ? slow.promise : page.module);
  const router = browser.router();
  const first = router.navigate('/slow');
  await new Promise((resolve) => setImmediate(resolve));
  await router.navigate('/fast');
  slow.resolve('/slow');
  await first;
  assert.deepEqual(browser.views, ['/fast']);
});

test('an aborted request is no reason to leave', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  browser.answer = (path) => (path === '/slow' ? slow.promise : page(path));
  const router = browser.router();
  const first = router.navigate('/slow');
  const second = router.navigate('/fast');
  slow.reject(new DOMException('aborted', 'AbortError'));
  await Promise.all([first, second]);
  assert.ok(!browser.log.some((line) => line.startsWith('leave')));
});

test('the status says what is loading', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  /** @type {unknown[]} */
  const seen = [];
  const stop = router.subscribe(() => seen.push(router.snapshot()));
  await router.navigate('/a?b=1#c');
  stop();
  await router.navigate('/b');
  assert.deepEqual(seen, [
    { state: 'loading', to: '/a?b=1' },
    { state: 'idle', to: null },
  ]);
});

test('a hash of the shown page asks nobody', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.navigate('#part');
  await router.navigate('/start#part');
  assert.deepEqual(browser.requests, []);
  assert.deepEqual(browser.log, [
    'keep',
    'push https://app.test/start#part',
    'keep',
    'replace https://app.test/start#part',
  ]);
  assert.equal(browser.arrivals[0].scroll, 'top');
});

test('the URL that is shown is loaded again, without a new entry', async () => {
  const browser = new FakeBrowser();
  await browser.router().navigate('/start');
  assert.deepEqual(browser.requests, ['/start']);
  assert.deepEqual(browser.log, ['keep', 'replace https://app.test/start']);
});

test('other sites, and paths outside of the base, are left to the browser', async () => {
  const browser = new FakeBrowser();
  browser.href = 'https://app.test/app/start';
  const router = browser.router('/app');
  await router.navigate('https://other.test/x');
  await router.navigate('mailto:a@b.c');
  assert.deepEqual(browser.log, ['leave https://other.test/x', 'leave mailto:a@b.c']);
  assert.equal(router.resolve('/about')?.href, 'https://app.test/app/about');
  assert.equal(router.resolve('../elsewhere'), null);
});

test('redirects are followed to the page they lead to', async () => {
  const browser = new FakeBrowser();
  browser.answer = (path) => (path === '/old' ? { kind: 'redirect', url: '/new?x=1' } : page(path));
  await browser.router().navigate('/old#part');
  assert.equal(browser.href, 'https://app.test/new?x=1#part');
  assert.deepEqual(browser.views, ['/new?x=1']);
});

test('a redirect of an app that is mounted below a path stays below it', async () => {
  const browser = new FakeBrowser();
  browser.href = 'https://app.test/shop/start';
  browser.answer = (path) =>
    path === '/shop/old' ? { kind: 'redirect', url: '/new' } : page(path);
  await browser.router('/shop').navigate('/old');
  assert.deepEqual(browser.views, ['/shop/new']);
});

test('a redirect to another site leaves the app', async () => {
  const browser = new FakeBrowser();
  browser.answer = () => ({ kind: 'redirect', url: 'https://other.test/' });
  await browser.router().navigate('/a');
  assert.deepEqual(browser.log, ['leave https://other.test/']);
});

test('redirects in a circle end at the document', async (context) => {
  context.mock.method(console, 'error', () => {});
  const browser = new FakeBrowser();
  browser.answer = () => ({ kind: 'redirect', url: '/a' });
  await browser.router().navigate('/a');
  assert.ok(browser.requests.length <= 11);
  assert.deepEqual(browser.log, ['leave https://app.test/a']);
});

test('what is no payload is loaded as a document', async () => {
  const browser = new FakeBrowser();
  browser.answer = () => ({ kind: 'document' });
  await browser.router().navigate('/file.pdf');
  assert.deepEqual(browser.log, ['leave https://app.test/file.pdf']);
  assert.deepEqual(browser.views, []);
});

test('a document takes the place of the entry that the page would have taken', async (context) => {
  context.mock.method(console, 'error', () => {});
  /** @type {Record<string, any>} */
  const answers = {
    '/file.pdf': { kind: 'document' },
    '/away': { kind: 'redirect', url: 'https://other.test/' },
    '/circle': { kind: 'redirect', url: '/circle' },
  };
  const browser = new FakeBrowser();
  browser.answer = (path) => answers[path];
  for (const path of Object.keys(answers)) {
    await browser.router().navigate(path, { replace: true });
  }
  await browser.router().navigate('mailto:a@b.c', { replace: true });

  assert.deepEqual(browser.log, [
    'leave https://app.test/file.pdf replacing',
    'leave https://other.test/ replacing',
    'leave https://app.test/circle replacing',
    'leave mailto:a@b.c replacing',
  ]);
});

test('code that cannot be loaded means the document too', async (context) => {
  context.mock.method(console, 'error', () => {});
  const browser = new FakeBrowser();
  browser.load = () => Promise.reject(new TypeError('Failed to fetch module'));
  await browser.router().navigate('/a');
  assert.deepEqual(browser.log, ['leave https://app.test/a']);
});

test('an error page is shown like any page, after one request', async () => {
  const browser = new FakeBrowser();
  browser.answer = (path) => page(path, { ok: false, statusCode: 500 });
  await browser.router().navigate('/broken');
  assert.deepEqual(browser.requests, ['/broken']);
  assert.deepEqual(browser.views, ['/broken']);
  assert.equal(browser.href, 'https://app.test/broken');
});

test('back and forward restore the position, and write no history', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.navigate('/a');
  browser.log.length = 0;
  browser.href = 'https://app.test/start';
  await router.pop();
  assert.deepEqual(browser.log, []);
  assert.deepEqual(browser.views, ['/a', '/start']);
  assert.equal(browser.arrivals[1].scroll, 'restore');
});

test('back to another hash of the same page only scrolls', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.navigate('#part');
  browser.href = 'https://app.test/start';
  await router.pop();
  assert.deepEqual(browser.requests, []);
  assert.equal(browser.arrivals.at(-1)?.scroll, 'restore');
});

test('back during a navigation gives it up', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  const router = browser.router();
  await router.navigate('/a');
  browser.answer = () => slow.promise;
  const second = router.navigate('/b');
  browser.href = 'https://app.test/a#x';
  await router.pop();
  slow.resolve(page('/b'));
  await second;
  assert.deepEqual(browser.views, ['/a']);
});

test('going back to a document that is no payload reloads it', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  browser.answer = () => ({ kind: 'document' });
  browser.href = 'https://app.test/before';
  await router.pop();
  assert.deepEqual(browser.log, ['reload']);
});

test('a refresh runs the loaders again and moves nothing', async () => {
  const browser = new FakeBrowser();
  /** @type {any[]} */
  const options = [];
  browser.answer = (path, passed) => {
    options.push(passed);
    return page(path, { ttl: 60 });
  };
  const router = browser.router();
  await router.navigate('/a');
  browser.log.length = 0;
  await router.refresh();
  assert.deepEqual(browser.requests, ['/a', '/a']);
  assert.equal(options[1].fresh, true);
  assert.deepEqual(browser.log, []);
  const arrival = browser.arrivals[1];
  assert.deepEqual([arrival.scroll, arrival.moved], ['keep', false]);
});

test('a refresh does not get in the way of a navigation', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  browser.answer = () => slow.promise;
  const router = browser.router();
  const navigation = router.navigate('/slow');
  await router.refresh();
  slow.resolve(page('/slow'));
  await navigation;
  assert.deepEqual(browser.requests, ['/slow']);
  assert.deepEqual(browser.views, ['/slow']);
});

test('a navigation takes the place of a refresh', async () => {
  const browser = new FakeBrowser();
  const slow = later();
  browser.answer = (path) => (path === '/start' ? slow.promise : page(path));
  const router = browser.router();
  const refreshed = router.refresh();
  await router.navigate('/a');
  slow.resolve(page('/start'));
  await refreshed;
  assert.deepEqual(browser.views, ['/a']);
});

test('a prefetch and the click that follows it run the loader once', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.prefetch('/a');
  assert.deepEqual(browser.log, ['preload /a']);
  await router.navigate('/a');
  assert.deepEqual(browser.requests, ['/a']);
});

test('a prefetched redirect prefetches what it leads to', async () => {
  const browser = new FakeBrowser();
  browser.answer = (path) => (path === '/old' ? { kind: 'redirect', url: '/new' } : page(path));
  const router = browser.router();
  await router.prefetch('/old');
  await router.navigate('/old');
  assert.deepEqual(browser.requests, ['/old', '/new']);
  assert.deepEqual(browser.views, ['/new']);
});

test('other sites and the shown page are not prefetched', async () => {
  const browser = new FakeBrowser();
  const router = browser.router();
  await router.prefetch('https://other.test/');
  await router.prefetch('/start#part');
  assert.deepEqual(browser.requests, []);
});

test('a refresh of some keys asks for them alone, and the others stay', async () => {
  const browser = new FakeBrowser();
  /** @type {any[]} */
  const states = [];
  /** @type {any[]} */
  const only = [];
  browser.stage.show = async (view) => void states.push(view.state);
  browser.answer = (path, options) => {
    only.push(options.only);
    return page(path, stateOf('/start', { title: 'new' }));
  };

  await browser.router().refresh({ only: ['title'] });

  assert.deepEqual(only, [['page:title']]);
  assert.deepEqual(states[0].props.data, { title: 'new', menu: 1 });
  assert.equal(browser.beside, 0);
});

test('a refresh of some keys that ends another one loads the keys of both', async () => {
  const browser = new FakeBrowser();
  /** @type {any[]} */
  const only = [];
  browser.answer = (path, options) => {
    only.push(options.only);
    return page(path, stateOf('/start', {}));
  };
  const router = browser.router();

  await Promise.all([
    router.refresh({ only: ['title'] }),
    router.refresh({ only: ['menu', 'title'] }),
    router.refresh(),
    router.refresh({ only: ['menu'] }),
  ]);

  assert.deepEqual(only, [['page:title'], ['page:title', 'page:menu'], undefined, undefined]);
});

test('where another page answers a refresh of some keys, all of it is loaded', async () => {
  const browser = new FakeBrowser();
  /** @type {any[]} */
  const only = [];
  browser.answer = (path, options) => {
    only.push(options.only);
    return page(path, stateOf('/other', {}));
  };

  await browser.router().refresh({ only: ['title'] });

  assert.deepEqual(only, [['page:title'], undefined]);
  assert.deepEqual(browser.views, ['/other']);
});
