/** Views of `fx dev` are made of one version of the packages that Vite has bundled. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { importedUrls } from '../../develop/updates/graph.js';
import { Views } from '../../develop/views.js';

/**
 * A project of one page. `load` is what the runner does: it may change what is bundled.
 *
 * @param {(bundled: { hash: string }, round: number) => any} load
 */
function viewsOf(load) {
  const bundled = { hash: 'a' };
  const calls = {
    cleared: 0,
    rounds: 0,
    parts: /** @type {any[]} */ ([]),
    /** @type {string[]} URLs that are made for browsers */
    transformed: [],
    /** @type {Map<string, any>} modules that cannot be made, by their URLs */
    unmade: new Map(),
    /** @type {any} what is known of the page's module */
    page: undefined,
  };
  const urlToModuleMap = new Map();
  const client = {
    moduleGraph: { urlToModuleMap },
    warmupRequest: async (/** @type {string} */ url) => {
      calls.transformed.push(url);
      const known = url === '/@vite/client' ? '/@fs/vite/dist/client/client.mjs' : url;
      const unmade = calls.unmade.get(url);
      urlToModuleMap.set(known, unmade ?? { transformResult: {} });
    },
  };
  const runner = {
    ModuleRunner: class {
      clearCache() {
        calls.cleared += 1;
      }
      import() {
        calls.rounds += 1;
        return Promise.resolve().then(() => load(bundled, calls.rounds));
      }
    },
  };
  const depsOptimizer = {
    get metadata() {
      return { browserHash: bundled.hash };
    },
  };
  const moduleGraph = { getModuleById: () => calls.page };
  const view = { module: 'pages/index.fxl', layouts: [], loading: null };
  const views = new Views(
    /** @type {any} */ ({ root: '/app', base: '' }),
    /** @type {any} */ ({
      planned: null,
      viewOf: () => view,
      idOf: (/** @type {string} */ id) => id,
    }),
    /** @type {any} */ ({
      vite: { createServerModuleRunnerTransport: () => null, isCSSRequest: () => true },
      runner,
      server: {
        environments: { client, ssr: { hot: null, depsOptimizer, moduleGraph } },
      },
      runtime: '/app/runtime',
      serverRuntime: {
        createRenderers: (/** @type {any} */ { views: parts }) => {
          calls.parts = parts;
          return {};
        },
      },
    }),
  );
  return { views, calls };
}

const outdated = () =>
  Object.assign(new Error('bundled anew'), { code: 'ERR_OUTDATED_OPTIMIZED_DEP' });

test('a view whose packages were bundled anew meanwhile is loaded again, with none of before', async () => {
  const { views, calls } = viewsOf((bundled, round) => {
    if (round < 4) bundled.hash = `b${round}`;
    return `page of ${bundled.hash}`;
  });

  assert.equal(await views.load(0, () => null), 0);
  assert.deepEqual(calls.parts, [{ page: 'page of b3', layouts: [], loading: null }]);
  assert.equal(calls.rounds, 4);
  assert.equal(calls.cleared, 4);
  assert.equal(await views.load(0, () => null), 0);
  assert.equal(calls.cleared, 4);
});

test('modules for browsers are made once, behind the document that they are for', async () => {
  const { views, calls } = viewsOf(async (_bundled, round) => {
    if (round !== 2) return 'page';
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    assert.deepEqual(calls.transformed, [], 'the document waits for its stylesheets');
    return { default: 'p { color: red }' };
  });
  const file = import.meta.filename;
  const style = { id: file, file, url: '/look.css', importedModules: new Set() };
  calls.page = { url: '/pages/index.fxl.tsx', importedModules: new Set([style]) };

  await views.load(0, () => null);
  assert.deepEqual(calls.transformed, []);
  const urls = ['\0virtual:fx/client', '/@vite/client', '/pages/index.fxl.tsx'];
  assert.equal(await views.prepared, undefined); // requests for them may come sooner
  assert.deepEqual(calls.transformed, urls);
  await views.load(0, () => null);
  await setImmediate();
  assert.deepEqual(calls.transformed, urls);
});

test('a module that cannot be made for browsers is tried again when it has changed', async () => {
  const { views, calls } = viewsOf(async () => 'page');
  const page = '/pages/index.fxl.tsx';
  const attempts = async () => {
    for (let render = 0; render < 3; render += 1) {
      await views.load(0, () => null);
      await views.prepared;
      await setImmediate();
    }
    return calls.transformed.filter((url) => url === page).length;
  };
  calls.unmade.set(page, {
    transformResult: null,
    lastHMRTimestamp: 0,
    lastInvalidationTimestamp: 0,
  });
  assert.equal(await attempts(), 1);
  calls.unmade.get(page).lastInvalidationTimestamp = 5;
  assert.equal(await attempts(), 2);
  calls.unmade.get(page).lastHMRTimestamp = 7;
  calls.unmade.delete(page);
  assert.equal(await attempts(), 3);
});

test('a package that was replaced while a module asked for it is asked for again', async () => {
  const { views, calls } = viewsOf((bundled, round) => {
    if (round === 1) throw outdated();
    return 'page';
  });

  assert.equal(await views.load(0, () => null), 0);
  assert.equal(calls.rounds, 2);
});

test('modules for browsers are made as well where the first load has failed', async () => {
  for (const error of [outdated(), new Error('corrected later')]) {
    const { views, calls } = viewsOf((_bundled, round) => {
      if (round === 1) throw error;
      return 'page';
    });

    await views.load(0, () => null).catch(() => views.load(0, () => null));
    await setImmediate();
    assert.deepEqual(calls.transformed.slice(-1), ['/pages/index.fxl.tsx'], error.message);
  }
});

test('an error of the page is its own, also after packages were bundled anew', async () => {
  const { views, calls } = viewsOf((bundled, round) => {
    if (round === 1) bundled.hash = 'b';
    throw new Error('of the page');
  });

  await assert.rejects(
    views.load(0, () => null),
    /of the page/,
  );
  assert.equal(calls.rounds, 2);
});

test('packages that are bundled anew for ever do not keep a view for ever', async () => {
  const { views, calls } = viewsOf((bundled, round) => {
    bundled.hash = `b${round}`;
    throw outdated();
  });

  await assert.rejects(
    views.load(0, () => null),
    /bundled anew/,
  );
  assert.ok(calls.rounds < 20);
});

test('as many pages as are in use stay loaded, and others are loaded again when they are rendered', async () => {
  const evaluated = new Set();
  const graph = {
    getModuleById: (/** @type {string} */ id) => ({ id }),
    invalidateModule: (/** @type {{ id: string }} */ { id }) => void evaluated.delete(id),
  };
  const runner = {
    ModuleRunner: class {
      evaluatedModules = graph;
      clearCache() {}
      async import(/** @type {string} */ id) {
        evaluated.add(id);
        return `code of ${id}`;
      }
    },
  };
  /** @type {any[]} */
  let parts = [];
  /** @type {string[]} what is transformed for renders */
  const invalidated = [];
  const ssr = {
    moduleGraph: {
      getModuleById: (/** @type {string} */ id) => ({ id, importedModules: new Set(), url: id }),
      invalidateModule: (/** @type {{ id: string }} */ { id }) => void invalidated.push(id),
    },
  };
  const client = {
    moduleGraph: { urlToModuleMap: new Map() },
    warmupRequest: async () => {},
  };
  const views = new Views(
    /** @type {any} */ ({ root: '/app', base: '' }),
    /** @type {any} */ ({
      planned: null,
      viewOf: (/** @type {number} */ id) => ({
        ...{ module: `p${id}`, layouts: [['layout', false]], loading: null },
      }),
      idOf: (/** @type {string} */ id) => id,
    }),
    /** @type {any} */ ({
      vite: { createServerModuleRunnerTransport: () => null, isCSSRequest: () => false },
      runner,
      server: { environments: { client, ssr } },
      serverRuntime: {
        createRenderers: (/** @type {any} */ { views }) => {
          parts = views;
          return {};
        },
      },
    }),
  );
  const held = () => parts.filter((one) => one !== undefined).length;

  for (let id = 0; id < 300; id += 1) {
    await views.load(0, () => null);
    await views.load(id, () => null);
  }
  assert.equal(held(), 40);
  assert.equal(evaluated.size, 41, 'the pages, and the layout that they share');
  assert.equal(invalidated.length, 260);
  assert.ok(evaluated.has('p0'), 'it was in use all the time');

  assert.ok(!evaluated.has('p1'));
  const slot = await views.load(1, () => null);
  assert.equal(parts[slot].page, 'code of p1');
  assert.equal(held(), 40);
});

test('a document names what its page imports, though no browser has asked for it yet', () => {
  const moduleOf = (/** @type {string} */ url, /** @type {any[]} */ imported = [], later = '') => ({
    ...{ url, id: `/app${url}`, file: `/app${url}`, importedModules: new Set(imported) },
    transformResult: { deps: imported.map((one) => one.url).filter((one) => one !== later) },
  });
  const deep = moduleOf('/pages/deep.css');
  const part = moduleOf('/pages/part.jsx', [deep]);
  const later = moduleOf('/pages/later.jsx', [moduleOf('/pages/of-later.jsx')]);
  const strange = [
    moduleOf('/pages/a b.jsx'),
    moduleOf('/node_modules/x/index.js'),
    { ...moduleOf('/pages/raw.js'), id: '/app/pages/raw.js?raw' },
    { ...moduleOf('/@fs/else/x.js'), id: '/else/x.js', file: '/else/x.js' },
  ];
  const unasked = moduleOf('/pages/unasked.jsx');
  const page = moduleOf(
    '/pages/index.fxl.tsx',
    [part, later, deep, unasked, ...strange],
    later.url,
  );
  part.importedModules.add(page); // a circle
  const all = [deep, part, later, ...strange];
  const known = (/** @type {any} */ { url }) =>
    /** @type {[string, any]} */ ([url, { lastHMRTimestamp: url === part.url ? 7 : 0 }]);
  const client = /** @type {any} */ ({ urlToModuleMap: new Map(all.map(known)) });

  assert.deepEqual(importedUrls(/** @type {any} */ ([page, undefined]), client, '/app'), [
    '/pages/part.jsx?t=7',
    '/pages/deep.css',
    '/pages/unasked.jsx',
  ]);
});
