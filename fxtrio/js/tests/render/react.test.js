import assert from 'node:assert/strict';
import test from 'node:test';

import { createElement, lazy, Suspense, use } from 'react';

import { Head } from '../../client/index.js';
import { collect, render, renderers } from '../rendering.js';
import { makeState } from '../states.js';

const h = createElement;

const SCRIPT = /<script nonce="n0">addEventListener\("submit",.*?<\/script>/;

test('the script that React adds to forms with functions is behind the root element', () => {
  const Page = () => h('form', { action: () => {} }, h('b', null, 'x'));
  const { head, html } = render(Page, { nonce: 'n0' });
  assert.equal(head, '');
  assert.match(html, /^<form action="javascript:[^>]*><b>x<\/b><\/form><\/div><script/);
  assert.match(html, SCRIPT);
  assert.match(html, /<\/script><div hidden>$/, 'the document closes what it takes for the root');
  assert.match(render(Page).html, /<\/div><script>addEventListener/, 'no policy, no nonce');
});

test('the same script in a stream has the nonce', async () => {
  const Page = () => h('form', { action: () => {} });
  const { html } = await collect(renderers(Page), { ...makeState(), nonce: 'n0' });
  assert.match(html, SCRIPT);
});

test('what an app writes is never taken for the root element', async () => {
  const text = '/* <div id="fx-root"></div> */';
  const Page = () => h('p', null, h('style', { href: 's', precedence: 'low' }, text), 'x');
  const { head, html } = render(Page);
  assert.match(head, /<style .*<div id="fx-root"><\/div> \*\/<\/style>$/);
  assert.equal(html, '<p>x</p>');
  const streamed = await collect(renderers(Page), makeState());
  assert.equal(streamed.html, '<p>x</p></div>');
});

test('a page whose components wait is rendered when all has come', async () => {
  const Lazy = lazy(async () => ({ default: () => h('b', null, 'lazy') }));
  const value = new Promise((resolve) => setImmediate(() => resolve('used')));
  const Used = () => h('i', null, use(/** @type {Promise<string>} */ (value)));
  const { html } = await render(() => h('p', null, h(Lazy), h(Used)));
  assert.equal(html, '<p><b>lazy</b><i>used</i></p>');
});

test('boundaries of components are rendered whole, with their head', async () => {
  const value = new Promise((resolve) => setImmediate(() => resolve('late')));
  const Slow = () => [h(Head, null, h('title', null, 'T')), use(/** @type {any} */ (value))];
  const Page = () => h('p', null, h(Suspense, { fallback: 'wait' }, h(Slow)));
  const { head, html } = await render(Page);
  assert.equal(head, '<title data-fx-head="">T</title>');
  assert.match(html, /^<p><!--\$-->.*late.*<!--\/\$--><\/p>$/);
});

test('an error of a component that has waited leaves the render', async () => {
  const Broken = lazy(async () => {
    throw new RangeError('broken');
  });
  await assert.rejects(async () => render(() => h(Broken)), RangeError);
});
