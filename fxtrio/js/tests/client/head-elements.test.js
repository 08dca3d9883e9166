import assert from 'node:assert/strict';
import test from 'node:test';

import { createElement, Fragment } from 'react';

import { headNodes } from '../../client/head/elements.js';

test('elements become nodes with the names that HTML has', () => {
  const nodes = headNodes([
    createElement('title', { key: 1 }, 'Hello ', 5, null, ' <you>'),
    createElement('meta', { key: 2, httpEquiv: 'refresh', content: '5' }),
    createElement('meta', { key: 3, charSet: 'utf-8' }),
    createElement('link', { key: 4, rel: 'alternate', hrefLang: 'de', crossOrigin: '' }),
    createElement('script', { key: 5, async: true, defer: false, src: '/a.js', 'data-Id': 'x' }),
  ]);
  assert.deepEqual(nodes, [
    ['title', {}, 'Hello 5 <you>'],
    ['meta', { 'http-equiv': 'refresh', content: '5' }, ''],
    ['meta', { charset: 'utf-8' }, ''],
    ['link', { rel: 'alternate', hreflang: 'de', crossorigin: '' }, ''],
    ['script', { async: '', src: '/a.js', 'data-Id': 'x' }, ''],
  ]);
});

test('fragments, conditions and white space are looked through', () => {
  const inner = createElement(Fragment, null, createElement('title', null, 'T'));
  assert.deepEqual(headNodes([false, null, undefined, '\n  ', inner]), [['title', {}, 'T']]);
});

test('the code of scripts and styles may be raw', () => {
  const raw = { dangerouslySetInnerHTML: { __html: 'a<b' } };
  assert.deepEqual(headNodes(createElement('style', raw)), [['style', {}, 'a<b']]);
});

test('handlers, functions and script URLs are left out', () => {
  const onLoad = () => {};
  const [node] = headNodes(
    createElement('link', { onLoad, onclick: 'x', rel: 'x', href: ' java\nscript:alert(1)' }),
  );
  assert.deepEqual(node, ['link', { rel: 'x' }, '']);
});

test('a description may speak of javascript, a refresh may not go there', () => {
  const content = 'javascript: the good parts';
  const description = createElement('meta', { name: 'description', content });
  assert.deepEqual(headNodes(description), [['meta', { name: 'description', content }, '']]);
  const refresh = createElement('meta', { httpEquiv: 'refresh', content: '0;url=javascript:x' });
  assert.deepEqual(headNodes(refresh), [['meta', { 'http-equiv': 'refresh' }, '']]);
});

test('noscript holds HTML', () => {
  const image = createElement('img', { src: '/p?a=1&b=2', height: 1 });
  assert.deepEqual(headNodes(createElement('noscript', null, image)), [
    ['noscript', {}, '<img src="/p?a=1&amp;b=2" height="1">'],
  ]);
});

test('what does not belong into a head is refused by name', () => {
  const Card = () => null;
  assert.throws(() => headNodes(createElement('div')), /<div> cannot be in it/);
  assert.throws(() => headNodes(createElement(Card)), /the component Card/);
  assert.throws(() => headNodes('text'), /the text "text"/);
  assert.throws(() => headNodes(createElement('title', null, createElement('b'))), /inside of a/);
});
