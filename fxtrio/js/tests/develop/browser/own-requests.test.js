import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OwnRequests } from '../../../develop/browser/own-requests.js';

const URL_OF_PAGE = 'http://localhost/';

/** A page, and what is said to it. */
function makePage() {
  /** @type {Map<string, (told: any) => void>} */
  const listeners = new Map();
  /** @type {string[]} */
  const failed = [];
  /** @type {((id: string) => void)[]} */
  const answers = [];
  const window = {
    performance: { getEntriesByType: () => [] },
    location: new URL(URL_OF_PAGE),
    console,
    fetch: () =>
      new Promise((resolve) => {
        answers.push((id) =>
          resolve({ headers: new Headers({ 'x-request-id': id }), url: URL_OF_PAGE }),
        );
      }),
  };
  const overlay = {
    requests: { add() {} },
    failed: (/** @type {any} */ { title }) => failed.push(title),
  };
  const hot = {
    on: (/** @type {string} */ event, /** @type {any} */ act) => listeners.set(event, act),
    send() {},
  };
  const { requests, load } = /** @type {any} */ ({
    requests: new OwnRequests(
      /** @type {any} */ (window),
      /** @type {any} */ (overlay),
      /** @type {any} */ (hot),
    ),
    load: () => /** @type {any} */ (window).fetch('/', { headers: { 'x-fx-navigation': '1' } }),
  });
  const log = (/** @type {string} */ request) =>
    listeners.get('fx:logged')?.({ request, level: 'error', text: '', shown: { title: request } });
  return { requests, load, log, answers, failed };
}

test('what is logged late of a page that was asked of other code is not shown', async () => {
  const { requests, load, log, answers, failed } = makePage();
  const loads = [load()];
  requests.replaced();
  loads.push(load());
  requests.forget();
  loads.push(load());
  answers.forEach((answer, index) => answer(`${index}`));
  await Promise.all(loads);
  for (const id of ['0', '1', '2', 'unknown']) log(id);
  assert.deepEqual(failed, ['1', '2', 'unknown']);
  requests.forget(); // of another process
  log('2');
  assert.deepEqual(failed, ['1', '2', 'unknown']);
});
