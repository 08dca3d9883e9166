/** HTML that elements are given while a page is rendered. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checked, withNeeds } from '../../render/set-html.js';

/** @type {any} */
const PLAIN = { page: { scripts: false, islands: { a: [] } }, requestedPath: '/a' };

/** Render a page that gives HTML to an element. @param {any} html @param {any} [state] */
function render(html, state = PLAIN, host = 'div') {
  return withNeeds((_id, { page }) => {
    const given = { __html: html };
    assert.equal(checked(given, host), given);
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
    checked({ __html: '<b>a' }, 'div');
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

test('what is found is that of the current render alone', (t) => {
  t.mock.method(console, 'warn', () => {});
  const failing = withNeeds(() => {
    checked({ __html: '</b>' }, 'div');
    throw new Error('later');
  });

  assert.throws(() => failing(0, PLAIN), /later/);
  assert.match(/** @type {any} */ (render('<i>')).html, /^<!--/);
  assert.doesNotMatch(/** @type {any} */ (render('<i></i>')).html, /^<!--/);
  const withScripts = /** @type {any} */ ({ ...PLAIN, page: {} });
  assert.equal(/** @type {any} */ (render('<i>', withScripts)).html, '<i>');
});

test('half of a character and HTML that is no text need scripts', (t) => {
  t.mock.method(console, 'warn', () => {});

  assert.match(/** @type {any} */ (render('\ud83d')).html, /^<!--/);
  assert.match(/** @type {any} */ (render({ toString: () => 'a' })).html, /^<!--/);
});
