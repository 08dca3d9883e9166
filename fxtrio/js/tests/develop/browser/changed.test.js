import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';

import { SAVED, watchChange } from '../../../develop/browser/changed.js';
import { standing } from '../../../develop/browser/socket.js';

/** @type {any} */
const browser = globalThis;
const { self } = browser;
test.beforeEach(() => void (browser.self = new EventTarget()));
test.afterEach(() => void (browser.self = self));

/**
 * Return what is reported of a page that shows other HTML when it has come to life.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ before?: (hot: EventEmitter) => void, after?: (hot: EventEmitter) => void }} [acts]
 *   what happens before the page has come to life, and after it
 */
function reported(t, { before, after } = {}) {
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
  before?.(hot);
  compare();
  after?.(hot);
  innerHTML = '<p>two</p>';
  t.mock.timers.tick(1000);
  return changes;
}

test('a page that its scripts change is reported', (t) => {
  assert.deepEqual(reported(t), ['<p>two</p>']);
});

const SAVES = {
  ...Object.fromEntries(
    SAVED.map((event) => [event, (/** @type {EventEmitter} */ hot) => void hot.emit(event)]),
  ),
  'another process': () => void browser.self.dispatchEvent(new Event('fx:reconnected')),
};

for (const [name, act] of Object.entries(SAVES)) {
  for (const when of ['before', 'after']) {
    test(`a page is not reported that a save changes: ${name} ${when} it comes to life`, (t) => {
      assert.deepEqual(reported(t, { [when]: act }), []);
    });
  }
}

test('nor is one that another process has sent than the one that serves', (t) => {
  standing.isReplaced = true;
  t.after(() => void (standing.isReplaced = false));

  assert.deepEqual(reported(t), []);
});
