/** Islands of a page without scripts: each rendered alone, in its place. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { createContext, createElement, lazy, memo, useContext, useId } from 'react';

import { Island, useData } from '../../client/index.js';
import { register } from '../../client/view/islands/registry.js';
import { render } from '../rendering.js';
import { makeState } from '../states.js';

const Theme = createContext('light');

const Inner = memo(() => createElement('b', { id: useId() }, useContext(Theme)));
const Titled = (/** @type {any} */ { text }) => [
  createElement('title', { key: 't' }, text),
  createElement('form', { key: 'f', action: () => {} }),
];
const Slow = lazy(async () => ({ default: () => createElement('i', null, 'late') }));
const Asking = () => createElement('i', null, useData().a);
const Raw = (/** @type {any} */ { text }) =>
  createElement('p', { dangerouslySetInnerHTML: { __html: text } });
const Unknown = () => null;
for (const [name, component] of Object.entries({ Inner, Titled, Slow, Asking, Raw })) {
  register(() => component, `ui/parts.jsx#${name}`);
  register(() => component, `ui/index.js#${name}`); // by a page that imports it from there
}

/**
 * Render a page of islands.
 *
 * @param {any[]} children of one island each
 * @param {any} [more] of the page's info
 */
function islands(children, more = {}) {
  const keys = ['Inner', 'Titled', 'Slow', 'Asking', 'Raw'].map((name) => `ui/parts.jsx#${name}`);
  const files = Object.fromEntries(keys.map((key) => [key, ['/_fx/parts.js', '/_fx/more.js']]));
  const page = () =>
    createElement(
      Theme,
      { value: 'dark' },
      createElement('p', { id: useId() }),
      ...children.map((child) => createElement(Island, { when: 'idle', children: child })),
    );
  const state = makeState();
  return render(page, { page: { ...state.page, scripts: false, islands: files, ...more } });
}

/** @param {string} html */
function payloadOf(html) {
  const [, payload] = /<script type="application\/json" id="__fx_given">([^<]*)</.exec(html) ?? [];
  return JSON.parse(payload);
}

/** @param {string} html */
function marksOf(html) {
  return [...html.matchAll(/data-fx-island="([^"]*)"/g)].map(([, mark]) => mark);
}

test('an island has ids of its own, and no context of the page', () => {
  const { html } = islands([createElement(Inner), createElement(Inner)]);

  assert.deepEqual(html.match(/<b id="[^"]*">\w+/g), [
    '<b id="_i0-R_0_">light',
    '<b id="_i1-R_0_">light',
  ]);
  const { mark, islands: payload } = payloadOf(html);
  assert.match(html, /<fx-island style="display:contents" data-fx-island="[\w-]{22}-0"><b/);
  assert.deepEqual(marksOf(html), [`${mark}0`, `${mark}1`]);
  assert.deepEqual(payload[0], {
    when: 'idle',
    module: '/_fx/parts.js',
    name: 'Inner',
    id: 'i0-',
    props: {},
    preload: ['/_fx/more.js'],
  });
});

test('HTML of users cannot have the mark of an island', () => {
  const htmlOf = (/** @type {string} */ text) =>
    islands([createElement(Titled, { text: '</script><b>' }), createElement(Raw, { text })]).html;
  const mark = payloadOf(htmlOf('')).mark;
  const forged = `<b data-fx-island="${mark}0">`;
  const html = htmlOf(forged);
  const payload = payloadOf(html);

  assert.deepEqual(marksOf(html), [`${payload.mark}0`, `${payload.mark}1`, `${mark}0`]);
  assert.notEqual(payload.mark, mark);
  assert.equal(payload.mark, payloadOf(htmlOf(forged)).mark); // of the same page
  assert.deepEqual(payload.islands[0].props, { text: '</script><b>' });
  assert.deepEqual(payload.islands[1].props, { text: forged });
});

test('a component that modules import in several ways is known by each', () => {
  for (const file of ['ui/parts.jsx', 'ui/index.js']) {
    const { html } = islands([createElement(Inner)], {
      islands: { [`${file}#Inner`]: [`/${file}`] },
    });
    assert.equal(payloadOf(html).islands[0].module, `/${file}`);
  }
});

test('what React hoists and appends goes where it goes for a page', () => {
  const children = [1, 2].map((text) => createElement(Titled, { text: `Title ${text}` }));
  const { head, html } = islands(children);

  assert.deepEqual(head.match(/<title>[^<]*/g), ['<title>Title 2']);
  assert.doesNotMatch(html, /<title/);
  assert.equal(html.split('<script').length, 3); // React's for forms, and what islands are given
  assert.ok(html.indexOf('<script') > html.lastIndexOf('</fx-island>'));
});

test('an island that waits is waited for', async () => {
  const { html } = await islands([createElement(Slow), createElement(Inner)]);

  assert.match(html, /<i>late<\/i>/);
  assert.match(html, /<b id="_i1-R_0_">light/);
});

test('an app that is served below a path has it in islands', () => {
  const { html } = islands([createElement(Inner)], { base: '/sub' });

  assert.equal(payloadOf(html).islands[0].base, '/sub');
});

for (const [child, cause] of /** @type {[any, RegExp][]} */ ([
  [createElement(Unknown), /the build has found no component <Unknown>/],
  [createElement('p'), /its child must be one component/],
  [null, /its child must be one component/],
  [createElement(Titled, { text: [NaN] }), /the property 'text.0' of <Titled> is NaN/],
  [createElement(Titled, { text: new Date(0) }), /'text' of <Titled> is a Date, which is not JSON/],
  [createElement(Titled, { run: () => 1 }), /'run' of <Titled> is a function/],
  [createElement(Titled, { icon: createElement('b') }), /'icon' of <Titled> is an element/],
  [createElement(Asking), /useData: works in pages and layouts, and not in an <Island>/],
])) {
  test(`${cause} is told`, () => {
    assert.throws(() => islands([child]), cause);
  });
}

test('in a page with scripts an island is a part of it', () => {
  const page = () =>
    createElement(
      Theme,
      { value: 'dark' },
      createElement(Island, { as: 'td', className: 'a', children: createElement(Inner) }),
    );

  assert.match(
    render(page).html,
    /^<td class="a" data-fx-island=""><b id="_R_\w*_">dark<\/b><\/td>$/,
  );
});
