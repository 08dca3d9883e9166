/** Renders show the view that was meant, whichever plan its number is of. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { Site } from '../../develop/site.js';

const settings = /** @type {any} */ ({ root: '/app', base: '/_fx/', folder: '/app/.fx/dev' });

/** @param {string[]} sources */
const planOf = (sources) =>
  /** @type {any} */ ({
    modules: sources,
    views: sources.map((module, id) => ({
      id,
      module,
      layouts: [],
      loading: null,
      boundaries: [],
    })),
  });

test('a view is found by what it shows while one plan takes the place of another', () => {
  const site = new Site(settings);
  /** @param {string} source */
  const state = (source) => () => ({ page: { module: site.urlOf(source), layouts: [] } });
  site.plan(planOf(['pages/a.fxl', 'pages/b.fxl', 'pages/c.fxl']));
  site.plan(planOf(['pages/b.fxl', 'pages/c.fxl']));

  assert.equal(site.viewOf(1, state('pages/b.fxl')).module, 'pages/b.fxl'); // of the plan before
  assert.equal(site.viewOf(1, state('pages/c.fxl')).module, 'pages/c.fxl'); // of this one
  assert.equal(site.viewOf(2, state('pages/c.fxl')).module, 'pages/c.fxl');
  assert.equal(site.viewOf(9, state('pages/c.fxl')), undefined);
});

test('what has come to a plan is taken over and described alone', () => {
  const [whole, site] = [new Site(settings), new Site(settings)];
  const [two, three] = [
    ['pages/a.fxl', 'pages/c.fxl'],
    ['pages/a.fxl', 'pages/c.fxl', 'pages/b.fxl'],
  ];
  site.plan(planOf(two));
  const { modules, views } = planOf(three);

  const answer = /** @type {any} */ (site.add({ from: 2, modules, views: views.slice(2) }));

  const { clients } = whole.plan(planOf(three));
  assert.deepEqual([answer.known, answer.clients], [true, clients.slice(2)]);
  assert.deepEqual(site.added, ['pages/b.fxl']);
  assert.deepEqual(
    [0, 1, 2].map((id) => site.viewAt(id)?.module),
    three,
  );
  assert.deepEqual(site.add({ from: 2, modules, views: views.slice(2) }), { known: false });
  assert.equal(site.viewAt(3), undefined);
});

test('a page whose new text is broken has the one before, also when nobody has asked for it', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-site-'));
  const site = new Site(/** @type {any} */ ({ ...settings, folder }));
  const write = (/** @type {string} */ text) =>
    fs.writeFileSync(site.stagedAt('pages/a.fxl'), text);
  fs.mkdirSync(path.dirname(site.stagedAt('pages/a.fxl')), { recursive: true });
  site.plan(planOf(['pages/a.fxl']));
  write('first');
  assert.equal(site.textOf('pages/a.fxl'), 'first');

  site.setRight('pages/a.fxl', 'second'); // which is written later
  assert.equal(site.textOf('pages/a.fxl'), 'second');
  write('broken');
  assert.equal(site.textOf('pages/a.fxl'), 'second');
  site.plan(planOf([]));
  write('another');
  assert.equal(site.textOf('pages/a.fxl'), 'another');
  fs.rmSync(folder, { recursive: true });
});
