/** Attributes of `html` and `body` follow the head, and leave alone what others have set. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { DocumentAttributes } from '../../client/head/attributes.js';

/** @typedef {import('../../client/types.js').HeadNode} HeadNode */

/** @param {Record<string, string>} [attributes] */
function makeElement(attributes = {}) {
  const all = new Map(Object.entries(attributes));
  const classes = new Set(attributes.class?.split(' '));
  const style = { cssText: '' };
  return {
    all,
    classes,
    style,
    getAttribute: (/** @type {string} */ name) => all.get(name) ?? null,
    setAttribute: (/** @type {string} */ name, /** @type {string} */ value) => all.set(name, value),
    removeAttribute: (/** @type {string} */ name) => all.delete(name),
    classList: {
      add: (/** @type {string[]} */ ...names) => names.forEach((name) => classes.add(name)),
      remove: (/** @type {string[]} */ ...names) => names.forEach((name) => classes.delete(name)),
    },
  };
}

/**
 * @param {Record<string, string>} html
 * @param {Record<string, string>} [body]
 */
function makeDocument(html, body) {
  const elements = { documentElement: makeElement(html), body: makeElement(body) };
  return { document: /** @type {any} */ (elements), ...elements };
}

/**
 * @param {Record<string, string>} attributes
 * @returns {HeadNode[]}
 */
const html = (attributes) => [['html', attributes, '']];

test('attributes follow the shown page, and go with it', () => {
  const { document, documentElement, body } = makeDocument({ lang: 'en' });
  const attributes = new DocumentAttributes(document, []);
  attributes.apply([...html({ lang: 'de', dir: 'ltr' }), ['body', { 'data-a': '1' }, '']]);
  assert.deepEqual([...documentElement.all], [['lang', 'de'], ['dir', 'ltr']]); // prettier-ignore
  assert.deepEqual([...body.all], [['data-a', '1']]);
  attributes.apply([]);
  assert.deepEqual([...documentElement.all], [['lang', 'en']]);
  assert.deepEqual([...body.all], []);
});

test('what a script has set in the meantime stays until the head says something else', () => {
  const roots = html({ 'data-theme': 'light' });
  const { document, documentElement } = makeDocument({
    lang: 'en',
    'data-fx-head': 'data-theme',
    'data-theme': 'dark', // by a script, before the page came to life
  });
  const attributes = new DocumentAttributes(document, roots);
  attributes.apply(roots);
  assert.equal(documentElement.all.get('data-theme'), 'dark');
  attributes.apply(html({ 'data-theme': 'sepia' }));
  assert.equal(documentElement.all.get('data-theme'), 'sepia');
});

test('what components have rendered on the server is not written again while they come', () => {
  const { document, documentElement } = makeDocument({
    lang: 'de',
    'data-fx-head': 'lang data-theme',
    'data-theme': 'dark',
  });
  const attributes = new DocumentAttributes(document, []);
  attributes.apply(html({ lang: 'de', 'data-theme': 'light' }), { remove: false });
  assert.equal(documentElement.all.get('data-theme'), 'dark');
  attributes.apply(html({ lang: 'de', 'data-theme': 'blue' }), { remove: false });
  assert.equal(documentElement.all.get('data-theme'), 'blue');
  attributes.apply([]);
  assert.equal(documentElement.all.get('lang'), 'en');
  assert.ok(!documentElement.all.has('data-theme'));
});

test('what comes late in a stream is written', () => {
  const { document, documentElement } = makeDocument({ lang: 'en' });
  const attributes = new DocumentAttributes(document, []);
  attributes.apply(html({ lang: 'fr' }), { remove: false });
  assert.equal(documentElement.all.get('lang'), 'fr');
});

test('the language of the settings may change', () => {
  const { document, documentElement } = makeDocument({ lang: 'de' });
  const attributes = new DocumentAttributes(document, [], 'de');
  attributes.apply([], { lang: 'fr' });
  assert.equal(documentElement.all.get('lang'), 'fr');
});

test('classes of libraries stay, and a style is set as a policy allows', () => {
  const roots = /** @type {HeadNode[]} */ ([['body', { class: 'wide warm' }, '']]);
  const { document, body } = makeDocument({}, { class: 'wide warm', 'data-fx-head': 'class' });
  const attributes = new DocumentAttributes(document, roots);
  body.classes.add('no-scroll');
  attributes.apply([['body', { class: 'warm  dark', style: 'color: red' }, '']]);
  assert.deepEqual([...body.classes].sort(), ['dark', 'no-scroll', 'warm']);
  assert.equal(body.style.cssText, 'color: red');
  attributes.apply([]);
  assert.deepEqual([...body.classes], ['no-scroll']);
  assert.equal(body.style.cssText, '');
});
