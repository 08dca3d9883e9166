/** Which fields of a page keep what was typed over Back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isPrivateName } from '../../client/navigation/visits/typed-fields.js';

test('names of secrets are those of the server', () => {
  for (const name of [
    '_csrf',
    'new-password',
    'apiKey',
    'card_number',
    'userPin',
    'otp',
    'myCVVCode',
    'cvv2',
  ]) {
    assert.ok(isPrivateName(name), name);
  }
  for (const name of ['', 'spinner', 'passenger', 'title', 'tangent', 'option']) {
    assert.ok(!isPrivateName(name), name);
  }
});
