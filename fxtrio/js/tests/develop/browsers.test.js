import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { mock, test } from 'node:test';

import { Browsers, clock } from '../../develop/browsers.js';

/** A connection whose two directions are apart. */
class Connection extends PassThrough {
  /** @type {any[]} what the browser was told */
  messages = [];

  /** @param {any} text */
  write(text) {
    this.messages.push(JSON.parse(String(text)));
    return true;
  }

  /** @param {unknown} message */
  async say(message) {
    await this.sayText(JSON.stringify(message));
  }

  /** @param {string} text */
  async sayText(text) {
    super.write(`${text}\n`);
    await setImmediate();
    await setImmediate();
  }
}

/** @param {number} ms */
function setClock(ms) {
  return mock.method(process.hrtime, 'bigint', () => BigInt(ms) * 1_000_000n);
}

/** @param {Browsers} browsers */
function connect(browsers) {
  const connection = new Connection();
  browsers.add(/** @type {any} */ (connection));
  return connection;
}

/** @param {Connection} connection */
const last = ({ messages }) => messages.at(-1);

test('a browser that connects learns what is wrong now, and when it is put right', () => {
  const browsers = new Browsers();
  const problem = { title: 'a', message: 'b', file: '', line: 0, column: 0, frame: '' };
  browsers.setProblems('pages', [problem]);
  const browser = connect(browsers);

  assert.deepEqual(last(browser).data, [problem]);
  browsers.setProblems('pages', []);
  assert.deepEqual(last(browser).data, []);
});

test('a browser that was away gets what it has missed, in order and once', async () => {
  const browsers = new Browsers();
  const first = connect(browsers);
  const { epoch, number } = first.messages[0];
  browsers.announce('one', {});
  browsers.announce('two', {});
  const again = connect(browsers);
  await again.say({ type: 'custom', event: 'fx:since', data: { epoch, number } });

  assert.deepEqual(
    again.messages.slice(2).map(({ event }) => event),
    ['one', 'two'],
  );
});

test('messages that are held back come in order, with the texts of stylesheets', async () => {
  const browsers = new Browsers();
  const browser = connect(browsers);
  const { epoch, number } = browser.messages[0];
  browsers.hold();
  const updates = [{ acceptedPath: '/look.css' }, { acceptedPath: '/list.jsx' }];
  browsers.send({ type: 'update', updates });
  browsers.announce('later', {});
  assert.equal(browsers.last, number);
  browsers.release(new Map([['/look.css', { id: '/app/look.css', text: 'p {}' }]]));

  const [update, later] = browser.messages.slice(2);
  assert.deepEqual(update.updates, [
    { acceptedPath: '/look.css', style: { id: '/app/look.css', text: 'p {}' } },
    { acceptedPath: '/list.jsx' },
  ]);
  assert.deepEqual([later.event, later.number], ['later', update.number + 1]);

  const again = connect(browsers);
  await again.say({ type: 'custom', event: 'fx:since', data: { epoch, number } });
  assert.deepEqual(again.messages[2].updates, updates, 'as a newer text may be there');
});

test('a browser of another process, or one that was away for too long, loads the page', async () => {
  const browsers = new Browsers();
  const { epoch, number } = connect(browsers).messages[0];
  const other = connect(browsers);
  await other.say({ type: 'custom', event: 'fx:since', data: { epoch: 'other', number } });
  for (let count = 0; count < 600; count += 1) browsers.announce('many', {});
  const latecomer = connect(browsers);
  await latecomer.say({ type: 'custom', event: 'fx:since', data: { epoch, number } });

  assert.equal(other.messages.filter(({ type }) => type === 'full-reload').length, 1);
  assert.equal(last(latecomer).type, 'full-reload');
});

test('of what Vite would do for a browser, nothing but taking a module back reaches it', async () => {
  const browsers = new Browsers();
  /** @type {string[]} */
  const heard = [];
  const events = ['vite:invoke', 'vite:forward-console', 'vite:client:connect'];
  for (const event of [...events, 'vite:invalidate', 'fx:other']) {
    browsers.on(event, () => heard.push(event));
  }
  const browser = connect(browsers);
  for (const event of [...events, 'vite:invalidate', 'fx:other', 5, null]) {
    await browser.say({ type: 'custom', event, data: { name: 'fetchModule', data: ['/x?raw'] } });
  }

  assert.deepEqual(heard, ['vite:invalidate', 'fx:other']);
});

test('a message that a listener cannot act on is passed over', async () => {
  const browsers = new Browsers();
  /** @type {unknown[]} */
  const heard = [];
  browsers.on('fx:thrown', (/** @type {any} */ { id }) => heard.push(id));
  browsers.on('fx:thrown', async (/** @type {any} */ { id }) => heard.push(id.length));
  const browser = connect(browsers);

  for (const data of [null, undefined, { id: null }, { id: 'one' }]) {
    await browser.say({ type: 'custom', event: 'fx:thrown', data });
  }
  assert.deepEqual(heard, [null, 'one', 3]);
});

test('what is no message is passed over', async () => {
  const browsers = new Browsers();
  const browser = connect(browsers);
  for (const text of ['{', 'null', '[]', '1', '"x"']) await browser.sayText(text);
  await browser.say({ type: 'custom', event: 'fx:since', data: null });
  await browser.say({ type: 'custom', event: 'fx:since' });

  assert.equal(browser.messages.length, 2);
});

test('a document learns of changes since it was asked for, however late it connects', async () => {
  const first = setClock(10_000);
  const browsers = new Browsers();
  browsers.announce('fx:data', { sources: ['a'] });
  first.mock.restore();
  const later = setClock(90_000);
  const browser = connect(browsers);
  const other = connect(browsers);

  await browser.say({ type: 'custom', event: 'fx:loaded', data: { asked: 9_990 } });
  await other.say({ type: 'custom', event: 'fx:loaded', data: { asked: 10_001 } });
  later.mock.restore();

  assert.deepEqual(last(browser).data, { sources: ['a'] });
  assert.equal(browser.messages.length, other.messages.length + 1);
});

test('a document learns of changes since it was asked for, though the day is set back', async () => {
  const day = mock.method(Date, 'now', () => 90_000_000);
  const browsers = new Browsers();
  browsers.send({ type: 'full-reload' });
  const reloaded = clock();
  while (clock() === reloaded);
  const requestedAt = clock();
  day.mock.mockImplementation(() => 50_000_000);
  browsers.announce('fx:data', { sources: ['a'] });
  const browser = connect(browsers);
  const before = browser.messages.length;

  await browser.say({ type: 'custom', event: 'fx:loaded', data: { asked: requestedAt } });
  day.mock.restore();

  assert.deepEqual(
    browser.messages.slice(before).map(({ event, type }) => event ?? type),
    ['fx:data'],
  );
});

test('a document that is older than a change learns of it, and others do not', async () => {
  const set = setClock(90_000);
  const browsers = new Browsers();
  const browser = connect(browsers);
  const other = connect(browsers);
  browsers.announce('fx:data', { sources: ['a'] });
  const before = [browser.messages.length, other.messages.length];

  await browser.say({ type: 'custom', event: 'fx:loaded', data: { age: 60_000 } });
  await other.say({ type: 'custom', event: 'fx:loaded', data: { age: -1 } });

  assert.deepEqual(last(browser).data, { sources: ['a'] });
  assert.deepEqual([browser.messages.length, other.messages.length], [before[0] + 1, before[1]]);
  for (const age of [null, 'x', {}, undefined]) {
    await other.say({ type: 'custom', event: 'fx:loaded', data: { age } });
  }
  set.mock.restore();
  assert.equal(other.messages.length, before[1]);
});
