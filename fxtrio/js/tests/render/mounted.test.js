import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import test from 'node:test';

import { movedFrom } from '../../render/mounted.js';
import { RootSplitter } from '../../render/splitter.js';
import { urlOf } from '../../vite/config.js';
import { makeState } from '../states.js';

/** @param {string} [base] */
function stateAt(base) {
  const state = makeState({});
  return { ...state, page: { ...state.page, ...(base !== undefined && { base }) } };
}

const HTML =
  '<img src="/_fx/logo-BROVZhok.png"/><a style="background:url(/_fx/a.b-12345678.svg)">é' +
  '<img srcSet="/_fx/x-abcdefgh.png 1x, /_fx/y-abcdefgh.png 2x"/>';
const MOVED = HTML.replaceAll('/_fx/', '/pre/_fx/');
const OTHERS =
  '<p>/_fx/ is a path</p><i>https://a.b/_fx/logo-BROVZhok.png</i><b>/app/_fx/logo-BROVZhok.png</b>';

test('where the app is served as it was built nothing is changed', () => {
  assert.equal(movedFrom('', stateAt())(HTML), HTML);
  const built = HTML.replaceAll('/_fx/', '/app/_fx/');
  assert.equal(movedFrom('/app', stateAt('/app'))(built), built);
});

test('URLs of built files get the path that the app is mounted at, and nothing else does', () => {
  assert.equal(movedFrom('', stateAt('/pre'))(HTML + OTHERS), MOVED + OTHERS);
  const built = HTML.replaceAll('/_fx/', '/app/_fx/');
  const moved = HTML.replaceAll('/_fx/', '/pre/app/_fx/');
  assert.equal(movedFrom('/app', stateAt('/pre/app'))(built), moved);
});

test('paths of the app get it too, wherever the app was built for', () => {
  const html = '<img src="/a.png"><p>/a.png</p>';
  const based = '<img src="/pre/a.png"><p>/a.png</p>';
  assert.equal(movedFrom('', stateAt('/pre'))(html), based);
  assert.equal(movedFrom('/pre', stateAt())(html), based);
});

test('a page that is sent in parts has them in each', async () => {
  const splitter = new RootSplitter(
    '<b>',
    () => {},
    () => '',
    {
      change: movedFrom('', stateAt('/pre')),
    },
  );
  const sent = text(splitter);
  for (const html of ['<b>', HTML, OTHERS, HTML]) {
    // React writes whole elements before it flushes, in pieces of any size.
    for (const byte of Buffer.from(html)) splitter.write(Buffer.from([byte]));
    splitter.flush();
  }
  splitter.end();
  assert.equal(await sent, MOVED + OTHERS + MOVED);
});

test('long words cost no more than short ones', { timeout: 60_000 }, () => {
  for (const character of 'a/-._%') {
    const long = `${character.repeat(1_000_000)} ${HTML}`;
    assert.equal(movedFrom('', stateAt('/pre'))(long), long.replace(HTML, MOVED));
  }
});

test('browsers find a file from the module or the stylesheet that names it', () => {
  assert.deepEqual(urlOf('a.png', { hostType: 'css', ssr: false }), { relative: true });
  assert.deepEqual(urlOf('a.png', { hostType: 'js', ssr: false }), {
    runtime: 'new URL("a.png", import.meta.url).pathname',
  });
  assert.equal(urlOf('a.png', { hostType: 'js', ssr: true }), undefined);
});
