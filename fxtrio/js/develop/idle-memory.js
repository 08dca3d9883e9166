/**
 * Frees memory once the process is idle: V8 collects garbage when it allocates, so what the last
 * pages have left would stay for as long as nobody does anything.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How long nothing may have been requested (ms). A collection pauses the process. */
const IDLE_MS = 3000;

/** Growth of the heap below which a collection is not worth its pause (bytes). */
const WORTH = 24 * 1024 * 1024;

/**
 * @param {() => void} collect
 * @param {() => number} used bytes of the heap
 * @returns {() => void} to be called at each request
 */
export function freeWhenIdle(
  collect = fullCollection(),
  used = () => process.memoryUsage().heapUsed,
) {
  let after = used();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const free = () => {
    if (used() - after < WORTH) return;
    collect();
    after = used();
  };
  return () => {
    clearTimeout(timer);
    timer = setTimeout(free, IDLE_MS);
    timer.unref();
  };
}

/** @returns {() => void} */
function fullCollection() {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc'); // code of the project does not see it
  return () => {
    gc();
    gc(); // the first finds what is free, the second one returns it to the system
  };
}
