import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { Places } from '../../develop/places.js';
import { Site } from '../../develop/site.js';

const MAP = { version: 3, sources: ['card.jsx'], names: [], mappings: 'AAGI' };
const URL = 'http://127.0.0.1:8000/_fx/card.jsx?t=1';

/** @param {{ map: unknown } | null} transformed what becomes of the module when it is asked for */
function places(transformed) {
  const module = { url: '/card.jsx', file: '/site/card.jsx', transformResult: null };
  const client = {
    moduleGraph: { urlToModuleMap: new Map([['/card.jsx', module]]) },
    transformRequest: async () => {
      if (transformed === null) throw new Error('it does not parse');
      module.transformResult = /** @type {any} */ (transformed);
    },
  };
  const { settings, site, server, browsers } = /** @type {any} */ ({
    settings: { base: '/_fx/' },
    site: { sourceOf: () => null },
    server: { environments: { client } },
    browsers: { on: () => {} },
  });
  return new Places(settings, site, server, browsers);
}

test('a module that has changed since it was thrown in has a place', async () => {
  const { place, text } = await places({ map: MAP }).locate(
    `Error: oops\n    at Card (${URL}:1:1)`,
  );

  assert.deepEqual(
    { ...place, frame: '' },
    { file: '/site/card.jsx', line: 4, column: 5, frame: '' },
  );
  assert.match(text, /at Card \(\/site\/card.jsx:4:5\)/);
});

test('a module that does not parse any more has none, nor has what is no module', async () => {
  for (const url of [URL, 'http://127.0.0.1:8000/other.js', 'http://127.0.0.1:8000/_fx/%.js']) {
    const { place } = await places(null).locate(`Error: oops\n    at Card (${url}:1:1)`);
    assert.equal(place.file, '');
  }
});

test('a mismatch is one line in the terminal, and any other error is whole', () => {
  const place = { file: '/site/card.jsx', line: 4, column: 5 };
  const mismatch = ['Hydration failed.', '', '  <h1>', '+   Other', '-   Notes', '', '    at h1'];

  assert.equal(
    places(null).summary(place, mismatch.join('\n')),
    '/site/card.jsx:4:5: The server and the browser render different content. ' +
      'In <h1> the server has Notes, and the browser renders Other.',
  );
  assert.equal(places(null).summary(place, 'Error: oops\n  at Card'), 'Error: oops\n  at Card');
});

test('the lines around a place are those of the text that the browser runs', async (context) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'places-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  const settings = /** @type {any} */ ({ root, base: '/_fx/', folder: path.join(root, '.fx') });
  const site = new Site(settings);
  site.plan(/** @type {any} */ ({ modules: ['pages/index.fxl'], views: [] }));
  const staged = site.stagedAt('pages/index.fxl');
  fs.mkdirSync(path.dirname(staged), { recursive: true });
  fs.writeFileSync(staged, '\n\n\n<h1>Notes</h1>\n');
  site.setRight('pages/index.fxl', '\n\n\n<h1>{nothing}</h1>\n'); // the disk has it later
  const module = { file: site.idOf('pages/index.fxl'), transformResult: { map: MAP } };
  const urlToModuleMap = new Map([['/pages/index.fxl.tsx', module]]);
  const { server, browsers } = /** @type {any} */ ({
    server: { environments: { client: { moduleGraph: { urlToModuleMap } } } },
    browsers: { on: () => {} },
  });
  const url = `http://127.0.0.1:8000${site.urlOf('pages/index.fxl')}`;

  const { place } = await new Places(settings, site, server, browsers).locate(
    `Error: oops\n    at Page (${url}:1:1)`,
  );

  assert.ok(place.frame.includes('   4 | <h1>{nothing}</h1>\n'), place.frame);
});

const SOURCE = 'pages/(shop)/Größe & @you+me,a=b [x].fxl';

for (const [before, after] of [
  ['    at Page (', ')'],
  ['    at ', ''],
  ['Page@', ''],
]) {
  test(`names may have blanks and brackets in ${before}${after}`, async () => {
    const settings = /** @type {any} */ ({ root: '/my app', base: '/_fx/', folder: '/my app/.fx' });
    const site = new Site(settings);
    site.plan(/** @type {any} */ ({ modules: [SOURCE], views: [] }));
    const module = { file: site.idOf(SOURCE), transformResult: { map: MAP } };
    const urlToModuleMap = new Map([[`/${SOURCE}.tsx`, module]]);
    const server = /** @type {any} */ ({
      environments: { client: { moduleGraph: { urlToModuleMap } } },
    });
    const browsers = /** @type {any} */ ({ on: () => {} });
    const url = `http://127.0.0.1:8000${site.urlOf(SOURCE)}`;
    for (const query of ['', '?t=17']) {
      const { text } = await new Places(settings, site, server, browsers).locate(
        `Error: oops\n${before}${url}${query}:1:1${after}`,
      );
      assert.equal(text, `Error: oops\n${before}/my app/${SOURCE}:4:5${after}`);
    }
  });
}
