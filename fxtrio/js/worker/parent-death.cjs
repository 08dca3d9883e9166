/**
 * A thread that ends this process when its parent is gone, even if the main thread is
 * caught in an endless loop. Only for systems whose kernel cannot do it (docs/wire.md,
 * "Lifetime of a worker"); CommonJS, since a thread starts faster with it.
 */

'use strict';

const { workerData: parent } = require('node:worker_threads');

const INTERVAL_MS = 500;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, INTERVAL_MS);
