/** What differs between server and browser is named, from what React says. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { mismatchOf } from '../../../develop/browser/mismatch.js';

const CAUSES = [
  "Hydration failed because the server rendered text didn't match the client. This can happen if",
  '',
  "- A server/client branch `if (typeof window !== 'undefined')`.",
  '- Invalid HTML tag nesting.',
  '',
  'https://react.dev/link/hydration-mismatch',
  '',
];

/** @param {string[]} drawing */
const mismatchIn = (...drawing) => mismatchOf([...CAUSES, ...drawing, '', '    at h1'].join('\n'));

test('a text is told with the element around it', () => {
  const found = mismatchIn('  <Home>', '    <h1>', '+     object', '-     undefined', '    ...');
  assert.equal(found?.message, 'In <h1> the server has undefined, and the browser renders object.');
  assert.match(found?.frame ?? '', /^ {2}<Home>\n.*\n\+ {5}object/);
  assert.ok(!found?.frame.includes('at h1'));
});

test('an element is told with the component that renders it', () => {
  const found = mismatchIn(
    '  <main>',
    '    <Home data={{}}>',
    '+     <h2 className="a">',
    '-     <h1>',
  );
  assert.equal(
    found?.message,
    'In <Home> the server has <h1>, and the browser renders <h2 className="a">.',
  );
});

test('what only one of them has is told as well', () => {
  assert.equal(
    mismatchIn('  <ul>', '+   <li>')?.message,
    'In <ul> the server has nothing, and the browser renders <li>.',
  );
  assert.equal(
    mismatchIn('  <ul>', '-   <li>')?.message,
    'In <ul> the server has <li>, and the browser renders nothing.',
  );
});

test('attributes belong to the element that they stand in', () => {
  const found = mismatchIn(
    '  <Home>',
    '    <h1',
    '+     className="a"',
    '-     className="b"',
    '    >',
  );
  assert.equal(
    found?.message,
    'In <h1> the server has className="b", and the browser renders className="a".',
  );
});

test('without a drawing the first line is told, and other errors are none', () => {
  const plain = mismatchOf('Hydration failed.\nSee the server log.');
  assert.equal(plain?.message, 'Hydration failed.');
  assert.equal(mismatchOf('x is not a function'), null);
});
