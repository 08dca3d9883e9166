/** Garbage is collected once nothing has been requested for a while, if there is much of it. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { freeWhenIdle } from '../../develop/idle-memory.js';

const MB = 1024 * 1024;

test('memory is freed once after requests that have left much garbage', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const heap = { used: 50 * MB, collected: 0 };
  const collect = () => {
    heap.collected += 1;
    heap.used = 60 * MB;
  };
  const requested = freeWhenIdle(collect, () => heap.used);

  heap.used += 100 * MB;
  requested();
  context.mock.timers.tick(2000);
  requested();
  context.mock.timers.tick(2000);
  assert.equal(heap.collected, 0, 'requests still come');
  context.mock.timers.tick(2000);
  assert.equal(heap.collected, 1);
  context.mock.timers.tick(60_000);
  assert.equal(heap.collected, 1);

  heap.used += MB;
  requested();
  context.mock.timers.tick(5000);
  assert.equal(heap.collected, 1, 'a save leaves too little for a pause');
});

test('garbage is what the process itself can collect', () => {
  assert.doesNotThrow(() => freeWhenIdle());
  assert.equal(/** @type {any} */ (globalThis).gc, undefined);
});
