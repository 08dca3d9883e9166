/** The packages of all pages are registered before Vite bundles any. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { parseSync } from 'vite';

import {
  discoverPackages,
  importedPackages,
  quietness,
  registerPackages,
  waitBundled,
} from '../../develop/packages/discovery.js';
import { Site } from '../../develop/site.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-discovery-'));
const folder = path.join(root, '.fx/dev');
test.after(() => fs.rmSync(root, { recursive: true }));

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  fs.writeFileSync(path.join(root, file), text);
}

/** @returns {Site} */
function emptySite() {
  const settings = { root, folder, base: '/_fx/', toolchain: '', sockets: '', python: '' };
  return new Site({ ...settings, editor: '', overlay: true, variables: {} });
}

/**
 * @param {Site} site
 * @param {Record<string, string>} pages
 */
function plan(site, pages) {
  for (const [source, text] of Object.entries(pages)) write(`.fx/dev/ui/${source}.tsx`, text);
  site.plan(/** @type {any} */ ({ root, base: '/_fx/', modules: Object.keys(pages), views: [] }));
}

test('packages are found in pages, and in what these import', async () => {
  write(
    'components/store.ts',
    `import { create } from 'zustand';\nimport type { A } from 'types';`,
  );
  write('components/card.jsx', `export * from './store';\nimport '@/components/card.css';`);
  write('components/card.css', `@import 'no-code';`);
  const site = emptySite();
  plan(site, {
    'pages/index.fxl': `import React from 'react';\nimport { Card } from '../components/card';`,
    'pages/charts.fxl':
      `import { Form } from 'fx/client';\nimport { Line } from 'recharts';\n` +
      `const late = () => import('@scope/late/part');\nimport 'node:fs';\nimport './not-there';`,
  });

  const found = await importedPackages(site.sources, { root, site, parse: parseSync });

  assert.deepEqual(
    [...found],
    [
      ['recharts', `${root}/pages/charts.fxl.tsx`],
      ['@scope/late/part', `${root}/pages/charts.fxl.tsx`],
      ['zustand', `${root}/components/store.ts`],
    ],
  );
});

test('a file that does not parse, or has been deleted, hides no package of the others', async () => {
  const site = emptySite();
  plan(site, {
    'pages/broken.fxl': `import {{ from 'recharts';`,
    'pages/away.fxl': '',
    'pages/good.fxl': `import useSWR from 'swr';`,
  });
  fs.rmSync(path.join(folder, 'ui/pages/away.fxl.tsx'));

  const found = await importedPackages(site.sources, { root, site, parse: parseSync });

  assert.ok(found.has('swr'));
});

/** @returns {any} what the plug-in needs of Vite */
function environmentOf(/** @type {string} */ name, /** @type {string[]} */ happened) {
  return {
    name,
    config: { cacheDir: path.join(folder, 'vite') },
    depsOptimizer: {
      metadata: { lockfileHash: 'l', configHash: name },
      init: async () => void happened.push(`${name}: init`),
    },
    pluginContainer: {
      resolveId: async (/** @type {string} */ specifier) => {
        happened.push(`${name}: ${specifier}`);
        if (specifier === 'broken') throw new Error('it exports nothing');
      },
    },
    waitForRequestsIdle: async () => void happened.push(`${name}: idle`),
  };
}

/**
 * @param {Site} site
 * @param {Promise<unknown>} quiet
 */
function discover(site, quiet) {
  const happened = /** @type {string[]} */ ([]);
  /** @type {() => void} */
  let bundled = () => {};
  const bundle = async (
    /** @type {import('../../develop/packages/discovery.js').Packages} */ packages,
  ) => {
    happened.push(`bundle ${packages.map(([name]) => name).join()}`);
    await new Promise((resolve) => (bundled = () => resolve(undefined)));
  };
  const client = environmentOf('client', happened);
  const environments = { client, ssr: environmentOf('ssr', happened) };
  const plugin = /** @type {any} */ (discoverPackages(site, root, quiet, bundle)(parseSync));
  plugin.configureServer({ environments });
  void client.depsOptimizer.init(); // as Vite does when it has started
  const resolve = (/** @type {string} */ id, importer = `${root}/pages/other.fxl.tsx`) =>
    plugin.resolveId.handler(id, importer);
  return { happened, resolve, bundled: () => bundled() };
}

const turn = () => new Promise((resolve) => void setTimeout(resolve, 0));

test('packages are bundled after the first page, in one go', async () => {
  const site = emptySite();
  const { happened, bundled } = discover(site, Promise.resolve());
  await turn();
  assert.deepEqual(happened, []);
  plan(site, { 'pages/index.fxl': `import 'broken';\nimport 'swr';` });
  while (happened.length < 1) await turn();
  assert.deepEqual(happened, ['bundle broken,swr']);
  bundled();
  while (happened.length < 3) await turn();
  assert.deepEqual(happened.slice(1), ['client: init', 'ssr: init'], 'Vite finds them then');
});

test('a page that needs a package has them bundled, and waits for that', async () => {
  const site = emptySite();
  const { happened, resolve, bundled } = discover(site, new Promise(() => {}));
  plan(site, { 'pages/index.fxl': `import 'react';`, 'pages/other.fxl': `import 'swr';` });
  for (const id of ['react', './card', '@/components/card', 'fx/client', 'node:fs']) {
    await resolve(id);
  }
  await resolve('index.html', `${root}/*`); // as Vite does
  await turn();
  assert.deepEqual(happened, []);

  const resolved = resolve('swr').then(
    () => void (/** @type {string[]} */ (happened).push('resolved')),
  );
  while (happened.length < 1) await turn();
  bundled();
  await resolved;
  assert.deepEqual(happened, ['bundle swr', 'client: init', 'ssr: init', 'resolved']);
});

test('without packages nothing is bundled', async () => {
  const site = emptySite();
  const { happened } = discover(site, Promise.resolve());
  plan(site, { 'pages/index.fxl': `import 'react';` });
  while (happened.length < 2) await turn();
  assert.deepEqual(happened, ['client: init', 'ssr: init']);
});

test('what has been bundled is used at once, and new packages are added later', async () => {
  for (const name of ['deps', 'deps_ssr']) {
    const configHash = name === 'deps' ? 'client' : 'ssr';
    write(`.fx/dev/vite/${name}/_metadata.json`, JSON.stringify({ lockfileHash: 'l', configHash }));
  }
  const site = emptySite();
  const { happened, resolve } = discover(site, Promise.resolve());
  plan(site, { 'pages/index.fxl': `import 'swr';` });
  await resolve('swr');
  while (happened.length < 3) await turn();
  assert.deepEqual(happened, ['client: init', 'client: swr', 'ssr: swr']);
});

test('the first bundle waits until all packages are registered, whatever is wrong with one', async () => {
  /** @type {string[]} */
  const happened = [];
  const environments = { client: environmentOf('client', happened) };
  const packages = ['broken', 'swr'].map((name) => [name, `${root}/pages/index.fxl.tsx`]);
  const plugin = /** @type {any} */ (registerPackages(/** @type {any} */ (packages))());
  plugin.configureServer({ environments });
  await environments.client.waitForRequestsIdle();
  await environments.client.waitForRequestsIdle();
  const idle = 'client: idle';
  assert.deepEqual(happened, ['client: broken', 'client: swr', idle, idle], 'each once');
});

test('whoever waits for the bundle learns whether all packages are in it', async () => {
  const packages = ['swr', 'broken'].map((id) => ({ id, processing: Promise.resolve() }));
  for (const optimized of [{}, { swr: {}, broken: {} }]) {
    const metadata = { discovered: Object.fromEntries(packages.map((one) => [one.id, one])) };
    const environment = /** @type {any} */ ({
      waitForRequestsIdle: async () => {},
      depsOptimizer: { metadata: { ...metadata, optimized } },
    });
    assert.equal(await waitBundled(environment), 'swr' in optimized);
  }
});

test('it is quiet when nothing has been requested for a while, since the first request', async () => {
  const { quiet, requested } = quietness(0);
  const state = { settled: false };
  void quiet.then(() => (state.settled = true));
  await turn();
  assert.equal(state.settled, false);
  requested();
  while (!state.settled) await turn();
});

test('requests without a pause do not keep it from being quiet for ever', async () => {
  const { quiet, requested } = quietness(60_000, 0);
  const state = { settled: false };
  void quiet.then(() => (state.settled = true));
  while (!state.settled) {
    requested();
    await turn();
  }
});
