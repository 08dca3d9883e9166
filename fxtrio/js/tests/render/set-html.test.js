/** What only a render knows: HTML that elements are given, and how deep elements are in each other. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createElement } from 'react';

import { isTooDeep } from '../../render/depth.js';
import { checked, oneText, withNeeds } from '../../render/set-html.js';
import { renderers } from '../rendering.js';
import { makeState } from '../states.js';

/** @type {any} */
const PLAIN = { page: { scripts: false, islands: { a: [] } }, requestedPath: '/a' };

/** Give HTML to an element, which React reads. @param {string} html */
function show(html) {
  return checked({ __html: html }, 'div').__html;
}

/** Render a page that gives HTML to an element. @param {any} html @param {any} [state] */
function render(html, state = PLAIN, host = 'div') {
  return withNeeds((_id, { page }) => {
    assert.equal(checked({ __html: html }, host).__html, html);
    return { head: '', html: `${page.islands ? '<fx-island></fx-island>' : ''}${html}` };
  })(0, state);
}

test('a page whose HTML browsers read as it is written needs no scripts', () => {
  assert.deepEqual(render('<b>a</b>'), { head: '', html: '<fx-island></fx-island><b>a</b>' });
  assert.deepEqual(render(null), { head: '', html: '<fx-island></fx-island>null' });
});

test('another one is marked, has no islands, and says why once', (t) => {
  const { mock } = t.mock.method(console, 'warn', () => {});
  const renderer = withNeeds((_id, { page }) => {
    show('<b>a');
    return { head: '', html: page.islands ? 'islands' : 'none' };
  });
  const rendered = { head: '', html: '<!--fx:scripts-->none' };

  assert.deepEqual(renderer(0, PLAIN), rendered);
  assert.deepEqual(renderer(0, PLAIN), rendered);
  assert.deepEqual(
    mock.calls.map((one) => one.arguments[0]),
    [
      '/a: <b> that is not closed in the HTML of <div>, so the page is sent with its scripts. ' +
        "Correct it, or write SCRIPTS = 'always'.",
    ],
  );
});

test('a list or an element in place of one text brings the scripts', (t) => {
  t.mock.method(console, 'warn', () => {});
  const renderText = (/** @type {any} */ child) =>
    withNeeds(() => ({ head: '', html: `<pre>${String(oneText(child, 'pre'))}</pre>` }))(0, PLAIN);

  for (const text of ['a', 1, null, undefined, false]) {
    assert.deepEqual(renderText(text), { head: '', html: `<pre>${String(text)}</pre>` });
  }
  for (const other of [['\na'], createElement('b')]) {
    const { html } = /** @type {any} */ (renderText(other));
    assert.ok(html.startsWith('<!--fx:scripts-->'));
  }
});

test('what is found is that of the current render alone', (t) => {
  t.mock.method(console, 'warn', () => {});
  const failing = withNeeds(() => {
    show('</b>');
    throw new Error('later');
  });

  assert.throws(() => failing(0, PLAIN), /later/);
  assert.match(/** @type {any} */ (render('<i>')).html, /^<!--/);
  assert.doesNotMatch(/** @type {any} */ (render('<i></i>')).html, /^<!--/);
  const withScripts = /** @type {any} */ ({ ...PLAIN, page: {} });
  assert.equal(/** @type {any} */ (render('<i>', withScripts)).html, '<i>');
});

test('an element that was made before the render is looked at', (t) => {
  t.mock.method(console, 'warn', () => {});
  const element = checked({ __html: '<b>' }, 'div');

  const rendered = withNeeds(() => ({ head: '', html: element.__html }))(0, PLAIN);

  assert.match(/** @type {any} */ (rendered).html, /^<!--/);
  for (const value of [null, undefined, {}]) assert.equal(checked(value, 'div'), value);
});

test('what a page gives later than its first part is looked at', async (t) => {
  t.mock.method(console, 'warn', () => {});
  /** @param {string} html */
  const streamed = (html) =>
    withNeeds(async () => {
      await Promise.resolve();
      return { head: '', html: show(html) };
    })(0, PLAIN);

  const pages = await Promise.all([streamed('<b></b>'), streamed('\ud83d')]);
  const [broken] = await Promise.all([streamed('<b>'), render('<i></i>')]);

  assert.deepEqual(
    pages.map(({ html }) => html),
    ['<b></b>', '<!--fx:scripts-->\ud83d'],
  );
  assert.equal(broken.html, '<!--fx:scripts--><b>');
});

const DEEP = `${'<div title="a">'.repeat(201)}a${'</div>'.repeat(201)}`;

for (const [text, html, isDeep] of /** @type {[string, string, boolean][]} */ ([
  ['elements in each other', DEEP, true],
  ['elements beside each other', '<p>a</p>'.repeat(900), false],
  ['elements without content', '<br><img src="/a>b"/><hr />'.repeat(300), false],
  ['parts of drawings', `<svg>${'<path d="M0"/><path d=a />'.repeat(300)}</svg>`, false],
  ['a slash that is a value', `${'<b title=a/>'.repeat(201)}${'</b>'.repeat(201)}`, true],
  ['end tags in comments', `${'<b><!-- </b> -->'.repeat(201)}${'</b>'.repeat(201)}`, true],
  ['end tags in styles', `${'<b><style></b></style>'.repeat(201)}${'</b>'.repeat(201)}`, true],
  ['tags in styles', `<style>${'<b>'.repeat(900)}</style>`, false],
  ['what is no tag', '<9'.repeat(900), true],
  ['a style without an end', `<style>${'<b>'.repeat(900)}`, false],
])) {
  test(`${text} ${isDeep ? 'are too deep' : 'are not deep'}`, () =>
    assert.equal(isTooDeep(html), isDeep));
}

test('a page whose elements are too deep needs scripts', (t) => {
  const { mock } = t.mock.method(console, 'warn', () => {});

  const rendered = withNeeds(() => ({ head: '', html: DEEP }))(0, PLAIN);

  assert.match(/** @type {any} */ (rendered).html, /^<!--/);
  assert.match(mock.calls[0].arguments[0], /^\/a: more than 200 elements in each other, so/);
});

test('a page that must have no scripts has none, and says what is wrong', (t) => {
  const { mock } = t.mock.method(console, 'warn', () => {});
  const never = { ...PLAIN, page: { scripts: false, never: true } };

  assert.deepEqual(render('<b>', never), { head: '', html: '<b>' });
  assert.match(
    mock.calls[0].arguments[0],
    /SCRIPTS = 'none', so browsers may show it in another way/,
  );
});

test('HTML that looks like what React leaves out is looked at, and lets no other page wait', async (t) => {
  t.mock.method(console, 'warn', () => {});
  let html = '';
  const app = renderers(() =>
    createElement('p', { dangerouslySetInnerHTML: checked({ __html: html }, 'p') }),
  );
  const state = makeState();
  const plain = { ...state, page: { ...state.page, scripts: /** @type {false} */ (false) } };
  /** @param {string} text */
  const renderWith = (text) => {
    html = text;
    return app.render(0, plain);
  };

  assert.match((await renderWith('<!--$!--><b>')).html, /^<!--fx:scripts-->/);
  assert.match((await renderWith('<!--$!--><template></template>')).html, /^<!--fx:scripts-->/);
  assert.equal((await renderWith('<!--$!-->')).html, '<p><!--$!--></p>');
  assert.equal(/** @type {any} */ (renderWith('<b></b>')).html, '<p><b></b></p>');
  assert.match(/** @type {any} */ (renderWith('<i>')).html, /^<!--fx:scripts-->/);
});

test('half of a character, U+0000 and HTML that is no text need scripts', (t) => {
  t.mock.method(console, 'warn', () => {});

  assert.match(/** @type {any} */ (render('\ud83d')).html, /^<!--/);
  assert.match(/** @type {any} */ (render('a\0')).html, /^<!--/);
  for (const head of ['<title>\0</title>', '<title>\ud83d</title>']) {
    const { html } = /** @type {any} */ (withNeeds(() => ({ head, html: '' }))(0, PLAIN));
    assert.match(html, /^<!--/);
  }
  assert.match(/** @type {any} */ (render({ toString: () => 'a' })).html, /^<!--/);
});
