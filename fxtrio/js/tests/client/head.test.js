import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { interleave, mergeHead, serializeHead } from '../../client/head/head.js';

const file = new URL('../../../../tests/wire/head.json', import.meta.url);
const { cases } = JSON.parse(fs.readFileSync(file, 'utf8'));

for (const { name, levels, merged, html, nonce } of cases) {
  test(`head: ${name}`, () => {
    assert.deepEqual(mergeHead(levels), merged);
    assert.equal(serializeHead(mergeHead(levels), nonce), html);
  });
}

test('a layout’s elements come after its HEAD and before what is inside of it', () => {
  const values = [[title('layout HEAD')], [title('page HEAD')]];
  assert.deepEqual(mergeHead(interleave(values, [])), [title('page HEAD')]);
  assert.deepEqual(mergeHead(interleave(values, [[title('layout <Head>')]])), [title('page HEAD')]);
  const elements = [[title('layout <Head>')], [title('page <Head>')]];
  assert.deepEqual(mergeHead(interleave(values, elements)), [title('page <Head>')]);
  assert.deepEqual(mergeHead(interleave([[title('layout HEAD')]], elements.slice(0, 1))), [
    title('layout <Head>'),
  ]);
});

test('levels without elements may be missing', () => {
  const elements = [];
  elements[2] = [title('page')];
  assert.deepEqual(mergeHead(interleave([], elements)), [title('page')]);
});

test('no text of an element can end it', () => {
  const attack = 'a</script><script>b</style>c</noscript><!--d';
  for (const tag of ['script', 'style', 'noscript', 'title']) {
    const html = serializeHead([[tag, {}, attack]]);
    assert.equal(html.match(new RegExp(`</${tag}`, 'gi'))?.length, 1, html);
  }
  assert.ok(!serializeHead([['script', {}, attack]]).includes('<!--'));
});

test('an attribute with a name that is none is left out', () => {
  const attributes = { 'a b': '1', 'x"y': '2', name: 'n', 'onload=x': '3' };
  assert.equal(serializeHead([['meta', attributes, '']]), '<meta data-fx-head="" name="n">');
});

/**
 * @param {string} text
 * @returns {import('../../client/types.js').HeadNode}
 */
function title(text) {
  return ['title', {}, text];
}
