/** What components insert into the document of their render: as libraries for styles do it. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { createElement, Suspense, use, useState } from 'react';

import { useNonce, useServerInsertedHTML } from '../../client/index.js';
import { collect, render, renderers } from '../rendering.js';
import { makeState } from '../states.js';

const h = createElement;

/** @param {{ inside: (add: (rule: string) => void) => any }} props */
function Styles({ inside }) {
  const [rules] = useState(/** @type {() => string[]} */ (() => []));
  const nonce = useNonce();
  useServerInsertedHTML(() => {
    const fresh = rules.splice(0);
    return fresh.length === 0 ? null : h('style', { nonce: nonce || undefined }, fresh.join(''));
  });
  return inside((rule) => void rules.push(rule));
}

/** @param {{ add: (rule: string) => void, rule: string, wait?: Promise<unknown> }} props */
function Styled({ add, rule, wait }) {
  if (wait !== undefined) use(wait);
  add(rule);
  return h('p', { className: rule });
}

test('styles of all components are in the head, with the nonce', () => {
  const Page = () => h(Styles, { inside: (add) => h(Styled, { add, rule: 'a' }) });
  const { head, html } = render(Page, { nonce: 'n0' });
  assert.equal(head, '<style nonce="n0">a</style>');
  assert.equal(html, '<p class="a"></p>');
  assert.equal(render(Page).head, '<style>a</style>', 'one render leaves nothing to the next');
});

test('a page that waits as a whole has all of them in the head', async () => {
  const wait = new Promise((resolve) => setImmediate(resolve));
  const Page = () => h(Styles, { inside: (add) => h(Styled, { add, rule: 'late', wait }) });
  const { head, html } = await render(Page);
  assert.equal(head, '<style>late</style>');
  assert.equal(html, '<p class="late"></p>');
});

test('in a stream they stand in front of the part that they are for', async () => {
  const wait = new Promise((resolve) => setTimeout(resolve, 5));
  const Page = () =>
    h(Styles, {
      inside: (add) => [
        h(Styled, { key: 1, add, rule: 'first' }),
        h(Suspense, { key: 2, fallback: 'wait' }, h(Styled, { add, rule: 'late', wait })),
      ],
    });
  const { head, html } = await collect(renderers(Page), { ...makeState(), nonce: 'n0' });
  assert.match(head, /<style nonce="n0">first<\/style>/);
  assert.doesNotMatch(html, /first<\/style>/);
  const style = html.indexOf('<style nonce="n0">late</style>');
  const closing = html.indexOf('</div>');
  assert.ok(closing !== -1 && closing < style, 'behind the root element');
  assert.ok(style < html.indexOf('<div hidden'), 'in front of the part');
});

test('a reader that is slow gets them at the same places', async () => {
  const wait = new Promise((resolve) => setTimeout(resolve, 5));
  const rows = Array.from({ length: 5000 }, (_, key) => h('li', { key }, 'x'.repeat(20)));
  const Page = () =>
    h(Styles, {
      inside: (add) => [
        h('ul', { key: 1 }, rows),
        h(Suspense, { key: 2, fallback: 'wait' }, h(Styled, { add, rule: 'late', wait })),
        h(Suspense, { key: 3, fallback: 'wait' }, h(Styled, { add, rule: 'last', wait }), rows),
      ],
    });
  const { html } = await collect(renderers(Page), makeState());
  assert.equal(html.split('<li>').length, 10_001);
  assert.match(html, />(<style>late(last)?<\/style>)<div hidden/);
});
