import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';

import { Browsers } from '../develop/browsers.js';

/** A connection whose two directions are apart. */
class Connection extends PassThrough {
  /** @type {any[]} what the browser was told */
  told = [];

  /** @param {any} text */
  write(text) {
    this.told.push(JSON.parse(String(text)));
    return true;
  }

  /** @param {object} message */
  async say(message) {
    super.write(`${JSON.stringify(message)}\n`);
    await setImmediate();
    await setImmediate();
  }
}

/** @param {Browsers} browsers */
function connect(browsers) {
  const connection = new Connection();
  browsers.add(/** @type {any} */ (connection));
  return connection;
}

/** @param {Connection} connection */
const last = ({ told }) => told.at(-1);

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
  const { epoch, number } = first.told[0];
  browsers.announce('one', {});
  browsers.announce('two', {});
  const again = connect(browsers);
  await again.say({ type: 'custom', event: 'fx:since', data: { epoch, number } });

  assert.deepEqual(
    again.told.slice(2).map(({ event }) => event),
    ['one', 'two'],
  );
});

test('a browser of another process, or one that was away for too long, loads the page', async () => {
  const browsers = new Browsers();
  const { epoch, number } = connect(browsers).told[0];
  const other = connect(browsers);
  await other.say({ type: 'custom', event: 'fx:since', data: { epoch: 'other', number } });
  for (let count = 0; count < 600; count += 1) browsers.announce('many', {});
  const late = connect(browsers);
  await late.say({ type: 'custom', event: 'fx:since', data: { epoch, number } });

  assert.equal(other.told.filter(({ type }) => type === 'full-reload').length, 1);
  assert.equal(last(late).type, 'full-reload');
});
