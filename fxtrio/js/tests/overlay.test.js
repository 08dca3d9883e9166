import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Overlay } from '../develop/browser/overlay.js';

/** As much of an element as the overlay uses. */
class FakeElement {
  /** @type {any[]} */
  children = [];
  textContent = '';

  /**
   * @param {string} name
   * @param {FakeElement[]} beside the children of its parent
   */
  constructor(name, beside) {
    this.name = name;
    this.beside = beside;
  }

  append(/** @type {any[]} */ ...children) {
    this.children.push(...children);
  }

  attachShadow() {
    return this;
  }

  remove() {
    this.beside.splice(this.beside.indexOf(this), 1);
  }

  setAttribute() {}
  addEventListener() {}
  focus() {}

  /** @returns {string} */
  get text() {
    const inner = this.children.map((child) => child.text ?? String(child));
    return [this.name === 'style' ? '' : this.textContent, ...inner].join(' ');
  }
}

/** Return an overlay, and what it shows. */
function opened() {
  /** @type {FakeElement[]} */
  const shown = [];
  const document = {
    addEventListener() {},
    createElement: (/** @type {string} */ name) => new FakeElement(name, shown),
    body: { append: (/** @type {FakeElement} */ element) => shown.push(element) },
    activeElement: null,
    querySelectorAll: () => [...shown],
  };
  const overlay = new Overlay(/** @type {any} */ (document), '{file}');
  /** @type {number[]} */
  const asked = [];
  overlay.ask = (id) => asked.push(id);
  const at = (/** @type {number} */ id, /** @type {string} */ file) =>
    overlay.located(/** @type {any} */ ({ id, file, line: 3, column: 1, frame: '', stack: '' }));
  return { overlay, asked, at, text: () => shown.map(({ text }) => text).join(' ') };
}

test('what a module throws when it is loaded stays until that module is loaded', () => {
  const { overlay, asked, at, text } = opened();
  overlay.unloaded('/a.js', new Error('of a'));
  overlay.thrown(new Error('of a click'));
  overlay.clear(); // new data
  overlay.thrown(new Error('of a click'));
  overlay.clearThrown(); // an update of another module
  overlay.loaded('/b.js');
  at(Number(asked[0]), '/the/a.js');
  assert.match(text(), /of a .*\/the\/a\.js:3:1/s);
  assert.ok(overlay.isPassing);

  overlay.loaded('/a.js');
  assert.equal(text(), '');
  assert.ok(!overlay.isPassing);
});

test('the place of what was thrown before something else is not that of the other', () => {
  const { overlay, asked, at, text } = opened();
  overlay.thrown(new Error('first'));
  overlay.thrown(new Error('second'));
  at(Number(asked[0]), '/first.js');
  assert.doesNotMatch(text(), /first/);
  at(Number(asked[1]), '/second.js');
  assert.match(text(), /second .*\/second\.js:3:1/s);
});

test('what cannot be loaded covers the pages that need it, and is counted elsewhere', () => {
  const { overlay, text } = opened();
  overlay.concerns = (file) => file === '/p/pages/a.fxl';
  const error = { message: 'no such rule', id: '/p/word.css' };

  overlay.notMade({ ...error, pages: ['/p/pages/b.fxl'] });
  assert.equal(text().trim(), '1 problem');
  overlay.notMade({ ...error, pages: ['/p/pages/a.fxl', '/p/pages/b.fxl'] });
  assert.match(text(), /no such rule/);
  overlay.clear();
  assert.equal(text(), '');

  const standing = { title: 'x', message: 'y', file: '/p/b.jsx', line: 1, column: 1, frame: '' };
  overlay.setStanding([{ ...standing, pages: [] }]);
  overlay.notMade({ message: 'the same', id: '/p/b.jsx', pages: [] });
  assert.equal(text().trim(), '1 problem');
  overlay.setStanding([]);
  overlay.notMade({ ...error, pages: [] });
  overlay.clearElsewhere();
  assert.equal(text(), '');
});
