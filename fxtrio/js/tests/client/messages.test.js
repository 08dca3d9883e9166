import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { translated, translateMessages } from '../../client/view/messages.js';

const MESSAGE = 'The connection was lost.';
const global = /** @type {any} */ (globalThis);

afterEach(() => {
  delete global.document;
  delete global.reportError;
  translateMessages(() => undefined);
});

/** @param {string} lang */
function show(lang) {
  global.document = { documentElement: { lang } };
}

test('a message is translated by the last function, which gets the language of the page', () => {
  assert.equal(translated(MESSAGE), MESSAGE);
  show('de');
  translateMessages(() => 'the first');
  translateMessages((message, lang) => `${lang}: ${message}`);
  assert.equal(translated(MESSAGE), `de: ${MESSAGE}`);
});

test('a message without a translation stays as it is', () => {
  show('fr');
  translateMessages((_, lang) => (lang === 'de' ? 'Keine Verbindung.' : undefined));
  assert.equal(translated(MESSAGE), MESSAGE);
});

test('a function that fails is reported, and the visitor gets the message', () => {
  show('de');
  /** @type {unknown[]} */
  const reported = [];
  global.reportError = (/** @type {unknown} */ error) => reported.push(error);
  const error = new Error('no such text');
  translateMessages(() => {
    throw error;
  });
  assert.equal(translated(MESSAGE), MESSAGE);
  assert.deepEqual(reported, [error]);
});
