/** The thread in which `loads.js` loads a bundle. */

import { parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';

import { compile } from '../worker/script.cjs';

const compiled = await compile(workerData);
if (compiled === null) await import(pathToFileURL(workerData).href);
parentPort?.postMessage(compiled);
