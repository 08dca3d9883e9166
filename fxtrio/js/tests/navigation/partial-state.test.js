import assert from 'node:assert/strict';
import test from 'node:test';

import { namesOf, withNewer } from '../../client/navigation/visits/partial-state.js';

/**
 * @param {object} data
 * @param {(true | null | object)[]} layouts
 * @param {object} [more]
 * @returns {any}
 */
function stateOf(data, layouts, more = {}) {
  const own = layouts.filter((mark) => mark !== null && mark !== true);
  const only = /** @type {any} */ (more).layoutData;
  const layoutData = only ?? Object.assign({}, ...own);
  return { ok: true, page: { module: '/a.js' }, props: { data, layoutData }, layouts, ...more };
}

test('a key is that of the page, or else of the innermost layout that has it', () => {
  const state = stateOf({ title: 1 }, [{ menu: 1, user: 1 }, null, { user: 2, title: 0 }]);

  assert.deepEqual(namesOf(state, ['title', 'menu', 'user', 'new']), [
    'page:title',
    '0:menu',
    '2:user',
    'page:new',
  ]);
  assert.deepEqual(namesOf(stateOf({}, [true], { layoutData: { menu: 1 } }), ['menu']), ['0:menu']);
});

test('the named values are the newer ones, and all others stay the same objects', () => {
  const unchanged = { deep: 1 };
  const before = stateOf({ unchanged, title: 1, gone: 1 }, [{ menu: 1, user: 1 }, { user: 2 }]);
  const after = stateOf({ title: 2 }, [{ menu: 2, user: 9 }, {}], { head: ['new'] });

  const merged = withNewer(before, after, ['page:title', 'page:gone', '0:menu']);

  assert.deepEqual(merged?.props, {
    data: { unchanged, title: 2 },
    layoutData: { menu: 2, user: 2 },
  });
  assert.equal(merged?.props.data.unchanged, unchanged);
  assert.deepEqual(merged?.layouts, [{ menu: 2, user: 1 }, { user: 2 }]);
  assert.deepEqual(merged?.head, ['new']);
  assert.equal(before.props.data.title, 1);
});

test('both responses bring deferred values, and neither ends before the merged page does', () => {
  const [one, other] = [() => {}, () => {}];
  const before = stateOf({ a: 1 }, [], { promises: ['page:a'], stops: [one] });
  const after = stateOf({ b: 1 }, [], { promises: ['page:b'], stops: [other] });

  const merged = withNewer(before, after, ['page:b']);

  assert.deepEqual(merged?.promises, ['page:a', 'page:b']);
  assert.deepEqual(merged?.stops, [one, other]);
});

test('another page, an error page and other layouts are no newer values', () => {
  const state = stateOf({}, [null]);

  assert.equal(withNewer(state, stateOf({}, [null], { page: { module: '/b.js' } }), []), null);
  assert.equal(withNewer(state, stateOf({}, [null], { ok: false }), []), null);
  assert.equal(withNewer(state, stateOf({}, []), []), null);
});

test('a newer value may have the name of what every object has', () => {
  const before = stateOf({ unchanged: 1 }, [{}]);
  const after = stateOf(JSON.parse('{"__proto__": 1, "constructor": 2}'), [
    JSON.parse('{"__proto__": {"menu": 3}}'),
  ]);

  const merged = withNewer(before, after, ['page:__proto__', 'page:constructor', '0:__proto__']);

  assert.deepEqual(Object.entries(merged?.props.data ?? {}), [
    ['unchanged', 1],
    ['__proto__', 1],
    ['constructor', 2],
  ]);
  assert.deepEqual(Object.keys(merged?.props.layoutData ?? {}), ['__proto__']);
  assert.equal(merged?.props.layoutData.menu, undefined);
});
