import assert from 'node:assert/strict';
import test from 'node:test';

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

import { initialState } from '../../client/actions/form.js';
import { createTree, pageProps } from '../../client/view/tree.js';
import { makeState } from '../states.js';

/** @param {any} component */
const module = (component) => ({ default: component });

/**
 * Return a component that writes its name and its properties around its children.
 *
 * @param {string} name
 */
function shows(name) {
  return module((/** @type {any} */ { children, ...props }) =>
    createElement('div', { id: name, title: JSON.stringify(props) }, children),
  );
}

/** @param {import('../../client/types.js').State} state */
function propsOf(state) {
  const layouts = state.page.layouts.map((_, index) => shows(`l${index}`));
  const html = renderToStaticMarkup(
    createTree(state, { page: shows('page'), layouts, loading: null }),
  );
  const found = html.matchAll(/id="(\w+)" title="([^"]*)"/g);
  return Object.fromEntries(
    [...found].map(([, id, text]) => [id, JSON.parse(text.replaceAll('&quot;', '"'))]),
  );
}

test('the page is inside of its layouts, outermost first', () => {
  const state = makeState({ layouts: 2 });
  const layouts = [shows('outer'), shows('inner')];
  const html = renderToStaticMarkup(
    createTree(state, { page: shows('page'), layouts, loading: null }),
  );
  assert.deepEqual(html.match(/id="\w+"/g), ['id="outer"', 'id="inner"', 'id="page"']);
});

test('a layout gets its own data, and that of the layouts around it with its own nearest', () => {
  const state = makeState({ layouts: 3 });
  state.props = { data: { p: 1 }, layoutData: { a: 2, b: 1, c: 1 } };
  state.layouts = [{ a: 1, b: 1 }, null, { a: 2, c: 1 }];
  state.params = { id: '5' };
  assert.deepEqual(propsOf(state), {
    l0: { data: { a: 1, b: 1 }, layoutData: { a: 1, b: 1 } },
    l1: { data: {}, layoutData: { a: 1, b: 1 } },
    l2: { data: { a: 2, c: 1 }, layoutData: { a: 2, b: 1, c: 1 } },
    page: { data: { p: 1 }, layoutData: { a: 2, b: 1, c: 1 }, params: { id: '5' } },
  });
});

test('the only layout with a loader has the merged data as its own', () => {
  const state = makeState({ layouts: 2 });
  state.props = { data: {}, layoutData: { user: 'u' } };
  state.layouts = [true, null];
  const { l0, l1 } = propsOf(state);
  assert.deepEqual(l0, { data: { user: 'u' }, layoutData: { user: 'u' } });
  assert.deepEqual(l1, { data: {}, layoutData: { user: 'u' } });
});

test('an error page is told of the error', () => {
  const state = makeState();
  Object.assign(state, { ok: false, statusCode: 404, error: 'Gone', type: 'LoaderError' });
  const own = { message: 'Gone', statusCode: 404, type: 'LoaderError', data: {} };
  const expected = { ...own, requestId: '' };
  assert.deepEqual(pageProps(state).error, expected);
  state.data = { id: 5 };
  assert.deepEqual(pageProps(state).error, { ...expected, data: { id: 5 } });
  state.requestId = 'abc';
  assert.equal(/** @type {any} */ (pageProps(state).error).requestId, 'abc');
});

test('a page is told what a form’s action answered', () => {
  const state = makeState();
  assert.ok(!('actionData' in pageProps(state)));
  state.actionData = { action: 'save', ok: false, error: 'No', fields: {}, data: {}, values: {} };
  assert.equal(pageProps(state).actionData, state.actionData);
});

/**
 * Return the keys of a tree, from the outside in.
 *
 * @param {any} element
 * @returns {string[]}
 */
function keysOf(element) {
  const keys = element.key === null ? [] : [element.key];
  const child = element.props.children;
  return child?.props ? [...keys, ...keysOf(child)] : keys;
}

test('layouts keep their identity from page to page; pages and templates do not', () => {
  const parts = { page: shows('p'), layouts: [shows('l'), shows('t')], loading: null };
  const at = (/** @type {string} */ path) => {
    const state = makeState({ layouts: 2, path });
    state.page.layouts[1].template = true;
    return keysOf(createTree(state, parts));
  };
  const [layout, template, page] = at('/blog/1?x=1');
  assert.deepEqual(at('/blog/1?x=2'), [layout, template, page], 'a query is the same page');
  const other = at('/blog/2');
  assert.equal(other[0], layout);
  assert.notEqual(other[1], template);
  assert.notEqual(other[2], page);
});

test('the loading fallback stands inside of the layouts of its folder', () => {
  const state = makeState({ layouts: 2 });
  state.page.loading = { module: '/loading.js', depth: 1 };
  const parts = { page: shows('p'), layouts: [shows('a'), shows('b')], loading: shows('wait') };
  const html = renderToStaticMarkup(createTree(state, parts));
  assert.deepEqual(html.match(/id="\w+"/g), ['id="a"', 'id="b"', 'id="p"']);
  const a = /** @type {any} */ (createTree(state, parts)).props.children;
  const suspense = a.props.children;
  assert.equal(suspense.props.fallback.props.children.type, parts.loading.default);
});

test('keys named __proto__ are data and change no prototype', () => {
  const evil = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"polluted":1}}');
  const state = makeState({ layouts: 2 });
  state.params = JSON.parse('{"__proto__":"polluted"}');
  state.props = { data: evil, layoutData: evil };
  state.layouts = [evil, evil];
  state.actionData = { action: 'a', ok: false, error: '', fields: evil, data: evil, values: evil };
  propsOf(state);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
  assert.equal(/** @type {any} */ (pageProps(state).data).polluted, undefined);
  assert.equal(/** @type {any} */ (initialState(state.actionData, 'a').values).polluted, undefined);
});
