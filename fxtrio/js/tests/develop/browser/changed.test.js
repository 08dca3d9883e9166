import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';

import { watchChange } from '../../../develop/browser/changed.js';

/**
 * Return what is reported of a page that shows other HTML when it has come to life.
 *
 * @param {import('node:test').TestContext} t
 * @param {string[]} events that are heard meanwhile
 */
function reported(t, events) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let innerHTML = '<p>one</p>';
  const copy = () => ({ innerHTML, querySelectorAll: () => [] });
  const document = { URL: '/', getElementById: () => ({ cloneNode: copy }) };
  const hot = new EventEmitter();
  /** @type {string[]} */
  const changes = [];
  const compare = watchChange(/** @type {any} */ (document), /** @type {any} */ (hot), (change) =>
    changes.push(change),
  );
  compare();
  for (const event of events) hot.emit(event);
  innerHTML = '<p>two</p>';
  t.mock.timers.tick(1000);
  return changes;
}

test('a page that its scripts change is reported', (t) => {
  assert.deepEqual(reported(t, []), ['<p>two</p>']);
});

test('a page that a save changes meanwhile is not', (t) => {
  assert.deepEqual(reported(t, ['fx:swapped']), []);
});

test('nor is one whose code a save changes', (t) => {
  assert.deepEqual(reported(t, ['vite:beforeUpdate']), []);
});
