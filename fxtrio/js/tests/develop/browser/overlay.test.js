import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Overlay } from '../../../develop/browser/overlay.js';
import { listOf } from '../../../develop/browser/waterfall.js';

/** As much of an element as the overlay uses. */
class FakeElement {
  /** @type {any[]} */
  children = [];
  textContent = '';
  style = {};

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
function opened(session = new Map()) {
  /** @type {FakeElement[]} */
  const elements = [];
  /** @type {(event: Partial<KeyboardEvent>) => void} */
  let press = () => {};
  const document = {
    addEventListener: (
      /** @type {string} */ _,
      /** @type {(event: Partial<KeyboardEvent>) => void} */ listener,
    ) => (press = listener),
    createElement: (/** @type {string} */ name) => new FakeElement(name, elements),
    body: { append: (/** @type {FakeElement} */ element) => elements.push(element) },
    activeElement: null,
    defaultView: {
      sessionStorage: {
        getItem: (/** @type {string} */ key) => session.get(key) ?? null,
        setItem: (/** @type {string} */ key, /** @type {string} */ text) => session.set(key, text),
        removeItem: (/** @type {string} */ key) => session.delete(key),
      },
    },
    querySelectorAll: () => [...elements],
  };
  const overlay = new Overlay(/** @type {any} */ (document), '{file}');
  /** @type {number[]} */
  const requested = [];
  overlay.ask = (id) => requested.push(id);
  const at = (/** @type {number} */ id, /** @type {string} */ file) =>
    overlay.located(/** @type {any} */ ({ id, file, line: 3, column: 1, frame: '', stack: '' }));
  const close = () => press({ key: 'Escape' });
  const pressed = (/** @type {Partial<KeyboardEvent>} */ event) => press(event);
  return {
    overlay,
    requested,
    at,
    close,
    press: pressed,
    text: () => elements.map(({ text }) => text).join(' '),
  };
}

test('what a module throws when it is loaded stays until that module is loaded', () => {
  const { overlay, requested, at, text } = opened();
  overlay.unloaded('/a.js', new Error('of a'));
  overlay.thrown(new Error('of a click'));
  overlay.clear(); // new data
  overlay.thrown(new Error('of a click'));
  overlay.clearThrown(); // an update of another module
  overlay.loaded('/b.js');
  at(Number(requested[0]), '/the/a.js');
  assert.match(text(), /of a .*\/the\/a\.js:3:1/s);
  assert.ok(overlay.isPassing);

  overlay.loaded('/a.js');
  assert.equal(text(), '');
  assert.ok(!overlay.isPassing);
});

test('the place of what was thrown before something else is not that of the other', () => {
  const { overlay, requested, at, text } = opened();
  overlay.thrown(new Error('first'));
  overlay.thrown(new Error('second'));
  at(Number(requested[0]), '/first.js');
  assert.doesNotMatch(text(), /first/);
  at(Number(requested[1]), '/second.js');
  assert.match(text(), /second .*\/second\.js:3:1/s);
});

test('what cannot be loaded covers the pages that need it, and is counted elsewhere', () => {
  const { overlay, text } = opened();
  overlay.concerns = (file) => file === '/p/pages/a.fxl';
  const error = { message: 'no such rule', id: '/p/word.css' };

  overlay.couldNotCompile({ ...error, pages: ['/p/pages/b.fxl'] });
  assert.equal(text().trim(), '1 problem');
  overlay.couldNotCompile({ ...error, pages: ['/p/pages/a.fxl', '/p/pages/b.fxl'] });
  assert.match(text(), /no such rule/);
  overlay.clear();
  assert.equal(text(), '');

  const standing = { title: 'x', message: 'y', file: '/p/b.jsx', line: 1, column: 1, frame: '' };
  overlay.setStanding([{ ...standing, pages: [] }]);
  overlay.couldNotCompile({ message: 'the same', id: '/p/b.jsx', pages: [] });
  assert.equal(text().trim(), '1 problem');
  overlay.setStanding([]);
  overlay.couldNotCompile({ ...error, pages: [] });
  overlay.clearElsewhere();
  assert.equal(text(), '');
});

test('what kept server code from being replaced is gone when some has been, and nothing else', () => {
  const { overlay, text } = opened();
  overlay.concerns = () => true;
  const place = { line: 1, column: 1, frame: '' };
  overlay.setStanding([
    { title: 'x', message: 'no such name', file: '/p/app.py', ...place, swap: true },
    { title: 'y', message: 'never closed', file: '/p/pages/a.fxl', ...place },
  ]);
  assert.match(text(), /no such name/);

  overlay.replaced();

  assert.doesNotMatch(text(), /no such name/);
  assert.match(text(), /never closed/);
});

test('what was closed stays closed after a reload, and comes back when it happens again', () => {
  const session = new Map();
  const before = opened(session);
  before.overlay.thrown(new Error('of the page'));
  assert.match(before.text(), /of the page/);
  before.close();
  assert.equal(before.text().trim(), '1 problem');

  const { overlay, requested, at, text } = opened(session);
  overlay.thrown(new Error('of the page'));
  at(Number(requested[0]), '/the/page.js');
  assert.equal(text().trim(), '1 problem');
  overlay.thrown(new Error('of the page')); // a click
  assert.match(text(), /of the page/);

  overlay.clear(); // corrected
  const fresh = opened(session);
  fresh.overlay.thrown(new Error('of the page'));
  assert.match(fresh.text(), /of the page/);
});

test('a stack is folded below the lines of the place, and files are those of the project', () => {
  const { overlay, text } = opened();
  overlay.root = '/home/ada/shop';
  const problem = { title: 'x', message: 'y', file: '/home/ada/shop/a.py', line: 1, column: 1 };
  overlay.failed({ ...problem, frame: '1 | raise', trace: 'File "/home/ada/shop/a.py", line 1' });
  assert.match(text(), /1 \| raise .*Details.*File "a\.py", line 1/s);
  assert.doesNotMatch(text(), /ada/);
});

test('a page that does not compile is shown with its own problem, not with what it throws', () => {
  const { overlay, text } = opened();
  overlay.concerns = () => false; // the error page is shown
  const file = '/shop/pages/a.fxl';
  const place = { file, line: 65, column: 16, frame: '65 | <h1>' };
  overlay.setStanding([{ title: 'pages/a.fxl', message: 'never closed', ...place }]);
  overlay.failed({ ...place, title: 'the render failed', message: 'Error', line: 2 });
  assert.match(text(), /never closed/);
  assert.doesNotMatch(text(), /the render failed/);

  overlay.failed({ ...place, title: 'the render failed', message: 'Error', file: '/shop/b.fxl' });
  assert.match(text(), /the render failed/);
  assert.doesNotMatch(text(), /never closed/);
});

test('the panel shows where the time of the request that failed went', async () => {
  const { overlay, text } = opened();
  overlay.timings = '/__fx/timings';
  overlay.failed({ title: 'x', message: 'y', file: '', line: 0, column: 0, frame: '' });
  assert.doesNotMatch(text(), /Where the time went/);
  const failed = { title: 'x', message: 'y', file: '', line: 0, column: 0, frame: '' };
  overlay.failed({ ...failed, request: '5f' });
  assert.match(text(), /Where the time went/);
});

test('the parts of a request are bars beside each other', () => {
  /** @type {any} */
  const document = { createElement: (/** @type {string} */ name) => new FakeElement(name, []) };
  const none = { rows: null, error: '' };
  const loader = { ...none, kind: 'loader', name: 'load()', place: '', start: 0, ms: 40 };
  const query = { kind: 'query', name: 'select ?', place: 'a.fxl:3', start: 10, ms: 20 };
  const deferred = { ...none, kind: 'deferred', name: 'late', place: '', start: 50, ms: null };
  /** @type {any} */
  const found = { ...query, rows: 2, error: 'OSError' };
  /** @type {any} */
  const list = listOf(document, { ms: 80, parts: [loader, found, deferred] });

  const pattern =
    /loader load\(\) 40.0 ms.*select \? a.fxl:3 2 rows OSError 20.0 ms.*late in progress/;
  assert.match(list.text, pattern);
  const bars = list.children.map((/** @type {any} */ item) => item.children[0].style);
  assert.deepEqual(
    bars.map((/** @type {any} */ style) => [style.marginInlineStart, style.width]),
    [
      ['0%', '50%'],
      ['12.5%', '25%'],
      ['62.5%', '0.5%'],
    ],
  );
});

test('the time of each request of the page is shown when somebody asks for it', async (t) => {
  const { overlay, close, press, text } = opened();
  const query = { kind: 'query', name: 'select ?', place: 'a.fxl:3', start: 1, ms: 2, error: '' };
  const timing = { kind: 'request', name: 'GET /', status: 200, ms: 9, repeated: [] };
  const repeated = [{ sql: 'select ?', place: 'a.fxl:3', count: 7 }];
  const timings = [
    { ...timing, request: 'a2', parts: [{ ...query, rows: 1 }], repeated },
    { ...timing, request: 'other', name: 'GET /other', parts: [] },
    { ...timing, request: 'a1', name: 'GET /old', ms: null, parts: [] },
  ];
  t.mock.method(globalThis, 'fetch', async () => ({ ok: true, json: async () => timings }));
  const settled = () => new Promise((done) => setTimeout(done));
  overlay.timings = '/__fx/timings';
  overlay.requests.add('a1');
  await settled();
  assert.equal(text(), '');

  press({ code: 'KeyW', altKey: true, shiftKey: true });
  await settled();
  assert.match(text(), /GET \/old 200 in progress/);
  assert.doesNotMatch(text(), /GET \/ 200|GET \/other/);

  overlay.requests.add('a2');
  await settled();
  assert.match(text(), /GET \/ 200 9.0 ms .*The same query ran 7 times: select \? at a.fxl:3/);
  assert.match(text(), /query select \? a.fxl:3 1 row 2.0 ms .*GET \/old/);

  overlay.requests.add('a3');
  close();
  await settled();
  assert.equal(text(), '');
});

test('the panel leads to where the time of the last requests went', () => {
  const { overlay, text } = opened();
  overlay.failed({ title: 'x', message: 'y', file: '', line: 0, column: 0, frame: '' });
  assert.doesNotMatch(text(), /Timings/);

  overlay.timings = '/app/__fx/timings';
  overlay.draw();
  assert.match(text(), /Timings/);
});
