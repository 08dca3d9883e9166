import assert from 'node:assert/strict';
import test from 'node:test';

import { HeadStore } from '../../client/head/store.js';

/** @type {{ changed: (changes: any[]) => void }} */
const observed = { changed: () => {} };
Object.assign(globalThis, {
  MutationObserver: class {
    /** @param {typeof observed.changed} callback */
    constructor(callback) {
      observed.changed = callback;
    }
    observe() {}
    disconnect() {}
  },
  HTMLTitleElement: class {
    hasAttribute() {
      return false;
    }
  },
});

const FIRST = [[['title', {}, 'First']]];
const SECOND = [[['title', {}, 'Second']]];
const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A store of a document that has come with `FIRST`, and what it has loaded and written.
 *
 * @param {Promise<any>} [first] what the first load comes to, if not to what writes
 */
function storeOf(first) {
  /** @type {any[]} */
  const written = [];
  /** @type {any} */
  const writers = class {
    /** @param {any} first */
    constructor({ values }) {
      this.first = values;
    }
    /** @param {any} values */
    write(values) {
      written.push({ first: this.first, ...values });
    }
  };
  let loads = 0;
  const load = async () => {
    loads += 1;
    return loads === 1 && first !== undefined ? first : writers;
  };
  /** @type {any} */
  const options = { document: {}, values: FIRST, own: FIRST, nonce: 'n', lang: 'en', load };
  return { store: new HeadStore(options), written, writers, loads: () => loads };
}

test('a page whose head does not change loads nothing that writes', async () => {
  const { store, written, loads } = storeOf();
  store.show(/** @type {any} */ (FIRST));
  await settled();

  assert.deepEqual([written, loads()], [[], 0]);
});

test('another page is written by what is loaded then, from what the document came with', async () => {
  const { store, written, loads } = storeOf();
  store.show(/** @type {any} */ (SECOND), 'de');
  store.show(/** @type {any} */ (SECOND), 'de');
  await settled();
  store.show(/** @type {any} */ (FIRST), 'en');
  await settled();

  assert.equal(loads(), 1);
  const elements = /** @type {any[]} */ ([]);
  assert.deepEqual(written, [
    { first: FIRST, values: SECOND, elements, lang: 'de', sent: true, remove: true },
    { first: FIRST, values: FIRST, elements, lang: 'en', sent: false, remove: true },
  ]);
});

test('elements of components bring what writes, and keep what is to come', async () => {
  const { store, written, writers, loads } = storeOf();
  const nodes = /** @type {any} */ ([['meta', { name: 'a' }, '']]);
  const remove = store.add(1, nodes, writers);
  await settled();
  remove();
  await settled();

  assert.equal(loads(), 0);
  assert.deepEqual(
    written.map(({ elements, remove: whole }) => [elements, whole]),
    [
      [[[], nodes], false],
      [[[], []], true],
    ],
  );
});

test('elements are written at once where the load of another write waits or fails', async (context) => {
  const errors = context.mock.method(console, 'error', () => {});
  for (const fails of [false, true]) {
    /** @type {any} */
    const load = {};
    load.promise = new Promise((resolve, reject) => Object.assign(load, { resolve, reject }));
    const { store, written, writers } = storeOf(load.promise);
    const nodes = /** @type {any} */ ([['meta', { name: 'a' }, '']]);
    store.show(/** @type {any} */ (SECOND), 'de');
    await settled();
    store.add(1, nodes, writers);
    await settled();
    const contents = written.map(({ values, elements }) => [values, elements]);
    assert.deepEqual(contents, [[SECOND, [[], nodes]]]);

    if (fails) load.reject(new TypeError('gone'));
    else load.resolve(writers);
    await settled();
    assert.equal(written.length, 1, 'and not a second time');
    store.show(/** @type {any} */ (FIRST), 'en');
    await settled();
    assert.equal(written.at(-1).values, FIRST);
  }
  assert.equal(errors.mock.callCount(), 0);
});

test('a title of React is followed, and a load that fails is tried again', async (context) => {
  const { written, loads } = storeOf(Promise.reject(new TypeError('gone')));
  const errors = context.mock.method(console, 'error', () => {});
  const title = new globalThis.HTMLTitleElement();
  observed.changed([{ addedNodes: [title], removedNodes: [] }]);
  await settled();
  assert.deepEqual([loads(), written.length, errors.mock.callCount()], [1, 0, 1]);

  observed.changed([{ addedNodes: [], removedNodes: [title] }]);
  await settled();
  assert.deepEqual([loads(), written.length], [2, 1]);
});
