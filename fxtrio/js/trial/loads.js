/**
 * Try whether the server bundle of a build loads.
 *
 * A thread of the bundler takes a third of the time of a render process. It may do more than such
 * a process, so it only ever says that a bundle loads; `fxtrio/cli/trial_load.py` says why not.
 */

import { Worker } from 'node:worker_threads';

import { isScript } from '../worker/bundle.cjs';

/** How long a bundle may take to load here (ms). */
const TIMEOUT = 3000;

/** Modules of Node that a render process may not use, or not wholly. */
const GUARDED =
  /["'`](?:node:)?(?:child_process|cluster|fs|fs\/promises|inspector|wasi|worker_threads)["'`]/;

/**
 * Return whether the bundle in the file `bundle`, with the text `code`, loads. False is no proof.
 *
 * A script gets compiled code all the same, but less if it was not run.
 *
 * @param {string} bundle
 * @param {string} code
 * @param {string} mode `NODE_ENV`, and the only variable that the code sees
 * @param {number} [timeout] ms
 * @returns {Promise<boolean>}
 */
export async function loadsInThread(bundle, code, mode, timeout = TIMEOUT) {
  const runs = !GUARDED.test(code);
  if (!runs && !isScript(bundle)) return false;
  const thread = new Worker(new URL('thread.js', import.meta.url), {
    env: { NODE_ENV: mode },
    stdout: true, // what is printed is not shown
    stderr: true,
    workerData: { bundle, runs },
  });
  try {
    return await new Promise((resolve) => {
      setTimeout(resolve, timeout, false).unref();
      thread.once('message', () => resolve(true));
      thread.once('error', () => resolve(false));
      thread.once('exit', () => resolve(false));
    });
  } finally {
    await thread.terminate();
  }
}
