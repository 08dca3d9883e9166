import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { BASED, creating, loadBase } from '../../client/view/base/based.js';
import { basedProps } from '../../client/view/base/elements.js';
import { basedHtml } from '../../client/view/base/html.js';

const CASES = JSON.parse(
  fs.readFileSync(new URL('../../../../tests/wire/base.json', import.meta.url), 'utf8'),
);

for (const { name, base, html, based } of CASES) {
  test(`HTML below a path: ${name}`, () => {
    assert.equal(basedHtml(html, base), based);
    assert.equal(basedHtml(based, base), based, 'once more');
  });
}

test('elements of HTML get the same, whoever makes them', () => {
  const props = (/** @type {any} */ type, /** @type {any} */ passed) =>
    basedProps(type, passed, '/sub');
  assert.deepEqual(props('img', { src: '/a.png', srcSet: '/b.png 2x', alt: '/a' }), {
    src: '/sub/a.png',
    srcSet: '/sub/b.png 2x',
    alt: '/a',
  });
  assert.deepEqual(
    props('meta', { property: 'og:image', content: '/a.png' }).content,
    '/sub/a.png',
  );
  assert.deepEqual(
    props('meta', { httpEquiv: 'refresh', content: '0;url=/a' }).content,
    '0;url=/sub/a',
  );
  assert.deepEqual(props('use', { xlinkHref: '/a#b' }), { xlinkHref: '/sub/a#b' });
  const raw = { dangerouslySetInnerHTML: { __html: '<a href="/x">/x</a>' } };
  assert.equal(props('div', raw).dangerouslySetInnerHTML.__html, '<a href="/sub/x">/x</a>');
  assert.equal(props('script', raw), raw);
  const drawn = { dangerouslySetInnerHTML: { __html: '<title/><image href="/x"/>' } };
  assert.match(props('svg', drawn).dangerouslySetInnerHTML.__html, /"\/sub\/x"/);
  const function_ = () => {};
  for (const [type, passed] of [
    ['a', { href: 'https://a.b/x', children: '/x' }],
    ['form', { action: function_ }],
    ['my-card', { href: '/x' }],
    [function_, { href: '/x' }],
  ]) {
    assert.equal(props(type, passed), passed);
  }
});

test('an app at the root creates elements as they are', async () => {
  const create = creating((/** @type {any} */ type, /** @type {any} */ props) => [type, props]);
  const props = { src: '/a.png' };
  const load = () => import('../../client/view/base/elements.js');
  await loadBase('', load);
  assert.equal(create('img', props)[1], props);
  await loadBase('/sub', load);
  assert.deepEqual(create('img', props)[1], { src: '/sub/a.png' });
  assert.deepEqual(BASED.attributes?.('link', { href: '/a' }), { href: '/sub/a' });
});

test('tags without an end cost no more than others', { timeout: 60_000 }, () => {
  for (const part of ['<a href="', '<a ', '<', '<a href="/x" ', '<!--', '="/x', '<script>']) {
    basedHtml(part.repeat(200_000), '/sub');
  }
  basedHtml(`<meta ${'content="/x" '.repeat(20_000)}>`, '/sub');
  basedHtml('<svg><title/><script/></svg><script></SCRIPT>'.repeat(20_000), '/sub');
});
