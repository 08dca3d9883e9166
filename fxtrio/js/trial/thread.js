/** The thread in which `loads.js` loads a bundle. */

import { parentPort, workerData } from 'node:worker_threads';

await import(workerData);
parentPort?.postMessage('loaded');
