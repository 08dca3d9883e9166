/** The thread in which `trial.js` loads a bundle. */

import { parentPort, workerData } from 'node:worker_threads';

await import(workerData);
parentPort?.postMessage('loaded');
