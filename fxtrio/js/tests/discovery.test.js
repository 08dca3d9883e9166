/** The packages of all pages are registered before Vite bundles any. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { parseSync } from 'vite';

import { discoveryPlugin, importedPackages, recoverFromFailure } from '../develop/discovery.js';
import { Site } from '../develop/site.js';

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
  const settings = { root, folder, base: '/_fx/', toolchain: '', sockets: '' };
  return new Site({ ...settings, editor: '', overlay: true });
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

/**
 * @param {Site} site
 * @param {Promise<unknown>} quiet
 */
function discover(site, quiet) {
  /** @type {string[]} */
  const happened = [];
  const environment = (/** @type {string} */ name) => ({
    pluginContainer: {
      resolveId: async (/** @type {string} */ specifier) => {
        happened.push(`${name}: ${specifier}`);
        if (specifier === 'broken') throw new Error('it exports nothing');
      },
    },
    waitForRequestsIdle: async () => void happened.push(`${name}: idle`),
  });
  /** @type {{ environments: Record<string, any> }} */
  const server = { environments: { client: environment('client'), ssr: environment('ssr') } };
  const plugin = /** @type {any} */ (discoveryPlugin(site, root, parseSync, quiet));
  plugin.configureServer(server);
  const idle = Object.values(server.environments).map((one) => one.waitForRequestsIdle());
  const resolve = (/** @type {string} */ id, importer = `${root}/pages/other.fxl.tsx`) =>
    plugin.resolveId.handler(id, importer);
  return { happened, idle, resolve };
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

test('the first bundle waits until all packages are registered, whatever is wrong with one', async () => {
  const site = emptySite();
  const { happened, idle } = discover(site, Promise.resolve());
  await turn();
  assert.deepEqual(happened, []);
  plan(site, { 'pages/index.fxl': `import 'broken';\nimport 'swr';` });
  await Promise.all(idle);

  for (const name of ['client', 'ssr']) {
    /** @type {string[]} */
    const own = happened.filter((/** @type {string} */ one) => one.startsWith(name));
    assert.deepEqual(own, [`${name}: broken`, `${name}: swr`, `${name}: idle`]);
  }
});

test('packages are bundled after the first page, unless a page needs one before', async () => {
  const site = emptySite();
  const { happened, idle, resolve } = discover(site, new Promise(() => {}));
  plan(site, { 'pages/index.fxl': `import 'react';`, 'pages/other.fxl': `import 'swr';` });
  for (const id of ['react', './card', '@/components/card', 'fx/client', 'node:fs']) resolve(id);
  resolve('index.html', `${root}/*`); // as Vite does
  await turn();
  assert.deepEqual(happened, []);

  resolve('swr');
  await Promise.all(idle);
  assert.equal(happened.filter((/** @type {string} */ one) => one.endsWith('swr')).length, 2);
});

test('a package that cannot be bundled takes nothing from the pages that do not import it', async () => {
  for (const fails of [true, false]) {
    /** @type {string[]} */
    const happened = [];
    const packages = ['swr', 'broken'].map((id) => ({ id, processing: Promise.resolve() }));
    const optimized = fails ? {} : Object.fromEntries(packages.map((one) => [one.id, one]));
    const discovered = Object.fromEntries(packages.map((one) => [one.id, one]));
    const environment = /** @type {any} */ ({
      config: { consumer: 'client' },
      waitForRequestsIdle: async () => {},
      depsOptimizer: { metadata: { discovered, optimized } },
      moduleGraph: { invalidateAll: () => happened.push('transform again') },
      hot: { send: (/** @type {{ type: string }} */ { type }) => happened.push(type) },
    });
    await recoverFromFailure(environment);
    const steps = ['transform again', 'full-reload'];
    assert.deepEqual(happened, fails ? steps : []);
  }
});
