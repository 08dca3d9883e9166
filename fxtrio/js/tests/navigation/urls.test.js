import assert from 'node:assert/strict';
import test from 'node:test';

import {
  actionPage,
  pathOf,
  queryOf,
  searchUrl,
  withBase,
  withoutBase,
} from '../../client/navigation/urls.js';

test('path and query of a URL', () => {
  assert.equal(pathOf('/a?b#c'), '/a');
  assert.equal(pathOf('/a#c?d'), '/a');
  assert.equal(queryOf('/a?b=1?c#d'), 'b=1?c');
  assert.equal(queryOf('/a#c?d'), '');
});

test('a path of the app gets the base once', () => {
  assert.equal(withBase('/about', '/app'), '/app/about');
  assert.equal(withBase('/app/about', '/app'), '/app/about');
  assert.equal(withBase('/app?x', '/app'), '/app?x');
  assert.equal(withBase('/apple', '/app'), '/app/apple');
  assert.equal(withBase('/', '/app'), '/app/');
  assert.equal(withBase('/about', ''), '/about');
});

test('what is no path of the app stays as it is', () => {
  for (const href of ['//cdn.test/x', 'https://x.test/', 'about', '?q=1', '#top', 'mailto:a@b.c']) {
    assert.equal(withBase(href, '/app'), href);
  }
});

test('the base is taken away on segment boundaries', () => {
  assert.equal(withoutBase('/app/about', '/app'), '/about');
  assert.equal(withoutBase('/app', '/app'), '/');
  assert.equal(withoutBase('/apple', '/app'), '/apple');
});

test('an action’s URL names its page', () => {
  assert.equal(actionPage('/'), 'index');
  assert.equal(actionPage('/blog/5/'), 'blog/5');
});

test('the fields of a form take the place of the query', () => {
  const file = new File(['x'], 'a b.txt');
  const fields = /** @type {[string, FormDataEntryValue][]} */ ([
    ['q', 'a b&c'],
    ['kind', '1'],
    ['kind', '2'],
    ['file', file],
  ]);
  assert.equal(
    searchUrl('/find?old=1#top', fields),
    '/find?q=a+b%26c&kind=1&kind=2&file=a+b.txt#top',
  );
  assert.equal(searchUrl('/find', []), '/find?');
});
