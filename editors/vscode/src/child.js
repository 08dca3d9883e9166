'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { setTimeout: delay } = require('node:timers/promises');

/** How much of what a process says on stderr is kept (count of characters). */
const MOST_OUTPUT = 4000;

/** How long the last words of a process that has ended may take; its children hold stderr (ms). */
const LAST_WORDS = 500;

/**
 * A process `fx lsp`.
 *
 * @typedef {object} Child
 * @property {import('node:child_process').ChildProcessWithoutNullStreams} process
 * @property {Promise<string>} ended becomes why it ended: the last line that it said, or else how
 */

/**
 * Start `fx lsp` in a folder. Rejects with what to do about it where that is not possible.
 *
 * @param {string} command
 * @param {string} folder
 * @returns {Promise<Child>}
 */
async function startChild(command, folder) {
  const process = spawn(command, ['lsp'], { cwd: folder });
  try {
    await once(process, 'spawn');
  } catch (error) {
    throw new Error(`${cause(error)} Install 'fxtrio[lsp]' in .venv, or set fx.command.`);
  }
  process.stdin.on('error', () => {}); // it has ended, which is told of below
  let said = '';
  process.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-MOST_OUTPUT);
  });
  const exited = once(process, 'exit').then(() => delay(LAST_WORDS));
  const ended = Promise.race([once(process, 'close'), exited]).then(
    () => said.trim().split(/\r?\n/).at(-1) || how(process),
  );
  return { process, ended };
}

/** @param {unknown} error */
function cause(error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  return code === 'ENOENT' ? 'there is no such command.' : `${message}.`;
}

/** @param {import('node:child_process').ChildProcess} process */
function how({ exitCode, signalCode }) {
  return signalCode === null ? `its exit code is ${exitCode}.` : `it was ended by ${signalCode}.`;
}

module.exports = { startChild };
