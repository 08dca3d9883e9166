/** The thread in which `loads.js` loads a bundle; that of a script leaves what V8 has compiled of it. */

import { parentPort, workerData } from 'node:worker_threads';

import { compileBundle, isScript, keepCompiled, loadBundle, runBundle } from '../worker/bundle.cjs';

const file = /** @type {string} */ (workerData);
if (isScript(file)) {
  const script = compileBundle(file);
  runBundle(script, file);
  keepCompiled(script, file);
} else {
  await loadBundle(file);
}
parentPort?.postMessage('loaded');
