import assert from 'node:assert/strict';
import test from 'node:test';

import { invalidate } from '../../client/navigation/invalidate.js';

/** What is asked of an app when something has changed. */
function makeApp() {
  /** @type {any[]} */
  const log = [];
  /** @type {(url: URL, state: any) => boolean} */
  let isMeant = () => false;
  const app = {
    router: { resolve: (/** @type {string} */ href) => resolved(href) },
    payloads: {
      invalidate: (/** @type {URL | undefined} */ url) => log.push(url?.href ?? 'all'),
      invalidateTag: (/** @type {string} */ tag) => log.push(`tag ${tag}`),
    },
    loads: {
      refresh: (/** @type {any} */ meant = () => true) => {
        isMeant = meant;
        return Promise.resolve();
      },
    },
  };
  const meant = (/** @type {string} */ path, /** @type {any} */ state = null) =>
    isMeant(new URL(path, 'https://app.test'), state);
  return { app: /** @type {any} */ (app), log, meant };
}

/** @param {string} href */
function resolved(href) {
  const url = new URL(href, 'https://app.test');
  return url.origin === 'https://app.test' ? url : null;
}

test('a URL without a query is meant with all of its queries', () => {
  const { app, log, meant } = makeApp();
  invalidate(app, '/todos');
  assert.deepEqual(log, ['https://app.test/todos']);
  assert.deepEqual(
    ['/todos', '/todos?all', '/todos/1'].map((path) => meant(path)),
    [true, true, false],
  );
});

test('a URL with a query is meant alone', () => {
  const { app, meant } = makeApp();
  invalidate(app, '/todos?all');
  assert.deepEqual(
    ['/todos', '/todos?all'].map((path) => meant(path)),
    [false, true],
  );
});

test('a tag is that of data that shows it', () => {
  const { app, log, meant } = makeApp();
  invalidate(app, 'tag:cart%2C%201');
  assert.deepEqual(log, ['tag cart, 1']);
  assert.equal(meant('/cart', { tags: ['cart, 1'] }), true);
  assert.equal(meant('/cart', { tags: ['cart'] }), false);
  assert.equal(meant('/cart'), false);
});

test('nothing is all, and another site is nothing', () => {
  const { app, log, meant } = makeApp();
  invalidate(app);
  assert.equal(meant('/anything'), true);
  invalidate(app, 'https://other.test/');
  assert.deepEqual(log, ['all']);
});
