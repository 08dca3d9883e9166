/** What a form and `useAction` know before, and after, a call. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { initialState } from '../../client/actions/form.js';
import { Reading } from '../../client/actions/reading.js';
import { stateOf, uncalled, UNCALLED } from '../../client/actions/use-action.js';

const REJECTED = { ok: /** @type {false} */ (false), error: 'No.', fields: { a: ['Why?'] } };

test('there is no data until an action succeeds, with JavaScript and without', () => {
  const typed = { ...REJECTED, action: 'add', data: { left: 0 }, values: { a: '1' } };

  assert.equal(UNCALLED.data, null);
  assert.deepEqual(initialState(undefined, 'add'), { ...UNCALLED, values: {} });
  assert.deepEqual(initialState(typed, 'other'), { ...UNCALLED, values: {} });
  assert.deepEqual(stateOf({ ...REJECTED, data: { left: 0 } }), stateOf(REJECTED));
  assert.deepEqual(initialState(typed, 'add'), { ...stateOf(REJECTED), values: { a: '1' } });
  assert.equal(stateOf(REJECTED).data, null);
  assert.deepEqual([stateOf(REJECTED).error, stateOf(REJECTED).fields], ['No.', { a: ['Why?'] }]);
});

test('before the first value the data is `initial`, also after a failure', () => {
  const typed = { ...REJECTED, action: 'ask', data: {}, values: { a: '1' } };

  assert.equal(uncalled(), UNCALLED);
  assert.equal(uncalled('').data, '');
  assert.deepEqual(stateOf(REJECTED, new Reading({ initial: [] })).data, []);
  assert.equal(stateOf(REJECTED, new Reading()).data, null);
  assert.deepEqual(initialState(undefined, 'ask', []).data, []);
  assert.deepEqual(initialState(typed, 'ask', []), {
    ...stateOf(REJECTED),
    data: [],
    values: { a: '1' },
  });
});

test('what an action returns is the data of a success, even without keys', () => {
  assert.deepEqual(stateOf({ ok: true, fields: {} }).data, {});
  assert.deepEqual(stateOf({ ok: true, fields: {}, n: 1 }).data, { n: 1 });
});
