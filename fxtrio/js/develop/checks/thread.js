/** The thread of `Mistakes`: orders come in, what is wrong goes out. Its data is the toolchain. */

import { parentPort, workerData } from 'node:worker_threads';

import { loadTools, problemsOf } from '../../check/checker.js';
import { Looks } from './looks.js';

const tools = await loadTools(workerData);
const looks = new Looks();
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
port.on('message', (/** @type {import('../../check/checker.js').Order} */ order) => {
  port.postMessage({ problems: problemsOf(tools, order, looks.look) });
});
