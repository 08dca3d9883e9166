import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { latest } from '../../../develop/browser/latest.js';
import { Updates } from '../../../develop/browser/updates.js';

const PAGE = { module: '/_fx/pages/index.fxl.tsx', layouts: [] };

/** @param {unknown} data */
const stateOf = (data) => ({ ok: true, data, page: PAGE });

/** @type {any} */
const browser = globalThis;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  browser.window = browser;
  browser.location = { pathname: '/', search: '', reload: () => assert.fail('reloaded') };
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  delete browser.window;
  delete browser.location;
});

/** A page that is shown, and its router. */
function makePage() {
  /** @type {any[]} that wait for their answers, in the order they were made */
  const requests = [];
  mock.method(browser, 'fetch', (/** @type {string} */ url) => {
    const { promise, resolve } = withResolvers();
    const headers = new Headers({ 'content-type': 'application/vnd.fx.page+json' });
    const answer = (/** @type {unknown} */ data) =>
      resolve({ status: 200, headers, json: async () => stateOf(data) });
    const fail = () => resolve({ status: 500, headers, json: async () => ({ error: 'wrong' }) });
    requests.push({ url, answer, fail, respond: resolve });
    return promise;
  });
  const screen = {
    committed() {},
    view: /** @type {any} */ ({ state: stateOf('at first'), parts: {} }),
    replace(/** @type {any} */ view) {
      this.view = view;
    },
  };
  const router = {
    status: { state: 'idle' },
    kept: true,
    beside: 0,
    listeners: new Set(),
    snapshot: () => router.status,
    subscribe(/** @type {() => void} */ listener) {
      router.listeners.add(listener);
      return () => router.listeners.delete(listener);
    },
    say(/** @type {string} */ state) {
      router.status = { state };
      for (const listener of router.listeners) listener();
    },
  };
  /** @type {any[]} errors that the overlay shows */
  const errors = [];
  const modules = { load: async () => ({ page: 'the newest' }) };
  const overlay = {
    isPassing: false,
    clear() {},
    clearThrown() {},
    takeUnsure: () => false,
    answered: (/** @type {any} */ body) => errors.push(body),
    thrown: (/** @type {Error} */ error) => errors.push(error),
  };
  let refreshed = 0;
  const updates = new Updates({
    runtime: /** @type {any} */ ({
      screen,
      router,
      modules,
      payloads: { invalidate: () => (router.kept = false) },
      loads: { refresh: async () => (router.beside += 1) },
    }),
    overlay: /** @type {any} */ (overlay),
    refresh: () => (refreshed += 1),
  });
  const currentData = () => screen.view.state.data;
  return {
    updates,
    screen,
    router,
    requests,
    currentData,
    errors,
    modules,
    refreshed: () => refreshed,
  };
}

/** Let what is due happen, and what follows from it. */
async function settle() {
  mock.timers.tick(0);
  await setImmediate();
}

/** @param {() => unknown} isTrue */
async function until(isTrue) {
  while (!isTrue()) await setImmediate();
}

function withResolvers() {
  /** @type {(value: unknown) => void} */
  let resolve = () => {};
  const promise = new Promise((resolvePromise) => (resolve = resolvePromise));
  return { promise, resolve };
}

const ALL = { sources: null, expected: [] };
const LATER = { atOnce: false };
const AT_ONCE = { atOnce: true };

test('data is loaded when its code is new, and shown when all of the change is known', async () => {
  const { updates, requests, currentData } = makePage();
  updates.loadAhead(['/_fx/pages/other.fxl.tsx'], LATER);
  await settle();
  assert.equal(requests.length, 0);
  updates.loadAhead([PAGE.module], LATER);
  await settle();
  requests[0].answer('loaded ahead');
  await settle();
  assert.equal(currentData(), 'at first');
  updates.addData({ sources: [PAGE.module], expected: [] });
  await settle();
  assert.deepEqual([currentData(), requests.length], ['loaded ahead', 1]);
  updates.addData({ sources: [PAGE.module], expected: [] });
  await settle();
  requests[1].answer('of another change');
  await settle();
  assert.equal(currentData(), 'of another change');
});

test('data that has nothing to wait for is shown as soon as it is there, and once', async () => {
  const { updates, requests, currentData, screen } = makePage();
  const replace = mock.method(screen, 'replace');
  updates.loadAhead([PAGE.module], AT_ONCE);
  await settle();
  requests[0].answer('at once');
  await settle();
  assert.equal(currentData(), 'at once');
  updates.addData({ sources: [PAGE.module], expected: [] });
  updates.settle();
  await settle();
  assert.deepEqual([requests.length, replace.mock.callCount()], [1, 1]);
  updates.addData({ sources: [PAGE.module], expected: [] });
  await settle();
  requests[1].answer('of another change');
  await settle();
  assert.equal(currentData(), 'of another change');
});

test('data of a change before waits for its module, though later data waits for none', async () => {
  const { updates, requests, currentData } = makePage();
  updates.loadAhead([PAGE.module], AT_ONCE);
  updates.addData({ sources: [PAGE.module], expected: [PAGE.module] });
  await setImmediate();
  requests[0].answer('of both');
  await settle();
  assert.equal(currentData(), 'at first');
  updates.addModule(PAGE.module, {});
  await settle();
  assert.deepEqual([currentData(), requests.length], ['of both', 1]);
});

test('data that could not be shown at once is tried again with the rest of its change', async () => {
  const { updates, requests, currentData, modules, errors } = makePage();
  const { load } = modules;
  modules.load = async () => assert.fail('not there');
  updates.loadAhead([PAGE.module], AT_ONCE);
  await settle();
  requests[0].answer('at once');
  await settle();
  modules.load = load;
  updates.addData({ sources: [PAGE.module], expected: [] });
  await settle();
  assert.deepEqual([errors.length, requests.length], [1, 1]);
  await settle();
  assert.equal(currentData(), 'at once');
});

test('what fails ahead is told, once', async () => {
  const { updates, requests, errors, screen } = makePage();
  screen.view.state = { ...screen.view.state, ok: false }; // an error view has no code of its own
  updates.loadAhead(['/_fx/pages/other.fxl.tsx'], LATER);
  await settle();
  requests[0].fail();
  await settle();
  updates.addData(ALL);
  await settle();
  assert.deepEqual([errors, requests.length], [[{ error: 'wrong' }], 1]);
});

test('deferred values of the new data are promises, which follow', async () => {
  const { updates, router, requests, screen } = makePage();
  updates.addData(ALL);
  await settle();
  const state = { ok: true, page: { module: '/a.js' }, layouts: [], promises: ['page:late'] };
  const first = JSON.stringify({ ...state, props: { data: {}, layoutData: {} } });
  const type = 'application/vnd.fx.page+json-lines';
  const body = `${first}\n["page:late",3,false]\n`;
  requests[0].respond(new Response(body, { headers: { 'content-type': type } }));
  await until(() => screen.view.state.promises);
  assert.equal(await screen.view.state.props.data.late, 3);
  assert.equal(router.beside, 1);
});

test('what was asked for earlier does not take the place of what is newer', async () => {
  const { updates, requests, currentData } = makePage();
  updates.addData(ALL);
  await settle();
  updates.addData(ALL);
  await settle();
  requests[1].answer('second');
  await settle();
  assert.equal(currentData(), 'second');
  requests[0].answer('first');
  await settle();
  assert.equal(currentData(), 'second');
});

test('what was asked for earlier fails without a word when something newer is shown', async () => {
  const { updates, requests, currentData, errors } = makePage();
  updates.addData(ALL);
  await settle();
  updates.addData(ALL);
  await settle();
  requests[1].answer('second');
  requests[0].fail();
  await settle();
  assert.equal(currentData(), 'second');
  assert.deepEqual(errors, []);
});

test('new modules do not wait for data that is slow', async () => {
  const { updates, requests, screen, currentData, refreshed } = makePage();
  updates.addData(ALL);
  await settle();
  updates.addModule(PAGE.module, {});
  await settle();
  assert.equal(refreshed(), 1);
  assert.equal(currentData(), 'at first');
  requests[0].answer('slow');
  await settle();
  assert.equal(currentData(), 'slow');
  assert.deepEqual(screen.view.parts, { page: 'the newest' });
});

test('data is asked for when the page that is on its way has come', async () => {
  const { updates, requests, screen, router, currentData } = makePage();
  router.say('loading');
  updates.addData(ALL);
  await settle();
  assert.equal(requests.length, 0);
  browser.location.pathname = '/next';
  screen.view = { state: stateOf('of the code before'), parts: {} };
  router.say('idle');
  await settle();
  assert.equal(requests[0].url, '/next');
  requests[0].answer('new');
  await settle();
  assert.equal(currentData(), 'new');
});

test('data of a page that has been left is not shown', async () => {
  const { updates, requests, screen, currentData } = makePage();
  updates.addData(ALL);
  await settle();
  browser.location.pathname = '/next';
  screen.view = { state: stateOf('next'), parts: {} };
  requests[0].answer('of the former page');
  await settle();
  assert.equal(currentData(), 'next');
});

test('what is kept for other pages is forgotten, whichever loader has changed', async () => {
  const { updates, requests, router } = makePage();
  updates.addData({ sources: ['/_fx/pages/other.fxl.tsx'], expected: [] });
  await settle();
  assert.equal(router.kept, false);
  assert.equal(requests.length, 0);
});

test('an error view asks once while its answer is on the way', async () => {
  const { updates, requests, screen } = makePage();
  screen.view = { state: { ...stateOf(null), ok: false }, parts: {} };
  updates.addData(ALL);
  updates.settle();
  await settle();
  updates.settle();
  await settle();
  assert.equal(requests.length, 1);
});

test('what was thrown is thrown again when the page is shown once more', async () => {
  const { updates, screen, currentData } = makePage();
  const before = screen.view.state;
  updates.again();
  await settle();
  assert.equal(currentData(), 'at first');
  assert.notEqual(screen.view.state, before); // boundaries begin anew with another state
});

test('a page on its way when its loader changes is loaded again when it is there', async () => {
  const { updates, router, requests, screen } = makePage();
  const other = { module: '/_fx/pages/other.fxl.tsx', layouts: [] };
  router.say('loading');
  updates.addData({ sources: [other.module], expected: [] });
  await settle();
  assert.equal(requests.length, 0);
  screen.view = { state: { ok: true, data: 'of before', page: other }, parts: { layouts: [] } };
  router.say('idle');
  await settle();
  assert.equal(requests.length, 1);
  router.say('loading');
  router.say('idle');
  await settle();
  assert.equal(requests.length, 1, 'once');
});

test('what changes before the page of the document is on the screen is not forgotten', async () => {
  const { updates, requests, screen } = makePage();
  const { view } = screen;
  screen.view = null;
  updates.addData({ sources: [PAGE.module], expected: [] });
  await settle();
  screen.view = view;
  screen.committed();
  await settle();
  assert.equal(requests.length, 1);
});

test('a page whose code was updated while it was on its way is shown with that', async () => {
  const { router, screen } = makePage();
  const [old, next] = [{ default: 1 }, { default: 2 }];
  screen.view.parts = { page: old, layouts: [], loading: null };
  latest.set(PAGE.module, next);
  router.say('loading');
  router.say('idle');
  await settle();
  latest.clear();
  assert.deepEqual(screen.view.parts, { page: 'the newest' });
});

test('data does not wait for modules that could not be loaded', async () => {
  const { updates, requests, currentData } = makePage();
  updates.addData({ sources: [PAGE.module], expected: [PAGE.module] });
  await settle();
  requests[0].answer('new');
  await settle();
  assert.equal(currentData(), 'at first');
  updates.settle();
  await settle();
  assert.equal(currentData(), 'new');
});

test('what could not be shown is asked for again at the next change', async () => {
  const { updates, requests, currentData, errors, modules } = makePage();
  const { load } = modules;
  modules.load = async () => {
    throw new Error('of a layout that is new');
  };
  updates.addData(ALL);
  await settle();
  requests[0].answer('new');
  await settle();
  assert.equal(errors.length, 1);
  modules.load = load;
  updates.settle();
  await settle();
  requests[1].answer('newer');
  await settle();
  assert.equal(currentData(), 'newer');
});
