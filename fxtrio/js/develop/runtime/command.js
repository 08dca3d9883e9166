/**
 * Keeps the hundred modules of the Node process of `fx dev` in one file, from which the next one
 * starts in less than half of the time. `fxtrio/develop/processes/one_file.py` decides whether the
 * file is used: it says what it was made of.
 */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('./bundle-command.js', import.meta.url));

/**
 * Make the file in a process of its own, unless this one was started from it and has loaded the
 * `toolchain` that it names. Nobody waits for it, or learns of a failure: without the file, `fx dev`
 * starts as it did this time.
 *
 * @param {string} toolchain
 */
export function keepCommand(toolchain) {
  const [, running, file, loaded] = process.argv;
  if (file === undefined || (running === file && loaded === toolchain)) return;
  const child = spawn(process.execPath, [SCRIPT, MAIN, file, toolchain], { stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
  process.once('exit', () => child.kill());
}
