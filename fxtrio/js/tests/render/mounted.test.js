import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import test from 'node:test';

import { movedFrom, moving } from '../../render/mounted.js';
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
  assert.equal(movedFrom('/app', stateAt('/app'))(HTML), HTML);
  const stream = Readable.from(['x']);
  assert.equal(moving(stream, '', stateAt()), stream);
});

test('URLs of built files get the path that the app is mounted at, and nothing else does', () => {
  assert.equal(movedFrom('', stateAt('/pre'))(HTML + OTHERS), MOVED + OTHERS);
  const built = HTML.replaceAll('/_fx/', '/app/_fx/');
  const moved = HTML.replaceAll('/_fx/', '/pre/app/_fx/');
  assert.equal(movedFrom('/app', stateAt('/pre/app'))(built), moved);
});

test('a stream has them wherever its parts are cut', async () => {
  const bytes = Buffer.from(HTML + OTHERS);
  for (const size of [1, 2, 3, 7, 64, 1000]) {
    const parts = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
    assert.equal(await text(moving(Readable.from(parts), '', stateAt('/pre'))), MOVED + OTHERS);
  }
});

test('what is held back has a bound, and ends with the stream', async () => {
  const long = `${'a'.repeat(10_000)}/_fx/logo-BROVZhok.pn`;
  assert.equal(await text(moving(Readable.from([Buffer.from(long)]), '', stateAt('/pre'))), long);
});

test('long words cost no more than short ones', { timeout: 60_000 }, async () => {
  for (const character of 'a/-._%') {
    const long = `${character.repeat(1_000_000)} ${HTML}`;
    const expected = long.replace(HTML, MOVED);
    assert.equal(movedFrom('', stateAt('/pre'))(long), expected);
    assert.equal(
      await text(moving(Readable.from([Buffer.from(long)]), '', stateAt('/pre'))),
      expected,
    );
  }
});

test('browsers find a file from the module or the stylesheet that names it', () => {
  assert.deepEqual(urlOf('a.png', { hostType: 'css', ssr: false }), { relative: true });
  assert.deepEqual(urlOf('a.png', { hostType: 'js', ssr: false }), {
    runtime: 'new URL("a.png", import.meta.url).pathname',
  });
  assert.equal(urlOf('a.png', { hostType: 'js', ssr: true }), undefined);
});
