/** The thread of `Mistakes`: orders come in, what is wrong goes out. Its data is the toolchain. */

import { parentPort, workerData } from 'node:worker_threads';

import { loadTools } from '../../check/checker.js';
import { ProjectLooks } from './looks.js';

const looks = new ProjectLooks(await loadTools(workerData));
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
port.on('message', (order) => port.postMessage(looks.answer(order)));
