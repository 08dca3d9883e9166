/** Runs `bundle-packages.js`. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./bundle-packages.js', import.meta.url));

/** When it is ended that does not end (ms). Then this process bundles what pages need. */
const LONGEST_MS = 300_000;

/**
 * Bundle packages into Vite's cache; return whether it has them now.
 *
 * @param {import('../settings.js').Settings} settings
 * @param {import('./discovery.js').Packages} packages
 * @returns {Promise<boolean>}
 */
export function bundlePackages(settings, packages) {
  const child = spawn(process.execPath, [SCRIPT], {
    stdio: ['pipe', 'ignore', 'inherit'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  child.stdin.on('error', () => {}); // it has ended, as its status says
  child.stdin.end(JSON.stringify({ settings, packages }));
  return new Promise((resolve) => {
    const done = (/** @type {boolean} */ bundled) => {
      process.off('exit', end);
      resolve(bundled);
    };
    child.once('error', () => done(false));
    child.once('exit', (status) => done(status === 0));
  });
}
