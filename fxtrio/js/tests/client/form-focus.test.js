import assert from 'node:assert/strict';
import test from 'node:test';

import { invalidFields } from '../../client/actions/form-focus.js';

test('only fields with messages are invalid, whatever their names are', () => {
  const names = ['email', 'constructor', 'hasOwnProperty', '__proto__', 'size'];
  const form = /** @type {any} */ ({ elements: names.map((name) => ({ name, type: 'text' })) });
  const invalid = (/** @type {Record<string, string[]>} */ fields) =>
    invalidFields(form, fields).map((field) => field.name);

  assert.deepEqual(invalid({ email: ['It is missing.'], size: [] }), ['email']);
  assert.deepEqual(invalid(JSON.parse('{"__proto__": ["It is no number."]}')), ['__proto__']);
});
