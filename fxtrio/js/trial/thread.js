/** The thread in which `loads.js` loads a bundle; that of a script leaves what V8 has compiled of it. */

import { parentPort, workerData } from 'node:worker_threads';

import { compileBundle, isScript, keepCompiled, loadBundle, runBundle } from '../worker/bundle.cjs';

const { bundle, runs } = /** @type {{ bundle: string, runs: boolean }} */ (workerData);
if (isScript(bundle)) {
  const script = compileBundle(bundle);
  try {
    if (runs) runBundle(script, bundle);
  } finally {
    keepCompiled(script, bundle);
  }
} else {
  await loadBundle(bundle);
}
if (runs) parentPort?.postMessage('loaded');
