/**
 * What page code prints goes to stderr, each line with the level of its message in front
 * (`<4>` is a warning: docs/wire.md, "Log lines").
 */

import { Console } from 'node:console';
import { format } from 'node:util';

/** Level of each method of `console`, as syslog numbers them. */
const LEVELS = { debug: 7, log: 6, info: 6, warn: 4, error: 3, trace: 6 };

/**
 * Write a message, a level in front of each of its lines.
 *
 * @param {keyof typeof LEVELS} method
 * @param {string} text
 */
export function writeLog(method, text) {
  const level = `<${LEVELS[method]}>`;
  process.stderr.write(`${level}${text.replaceAll('\n', `\n${level}`)}\n`);
}

/** Let the global `console` write to stderr, with levels. */
export function replaceConsole() {
  const console = new Console(process.stderr, process.stderr);
  for (const method of /** @type {const} */ (['debug', 'log', 'info', 'warn', 'error'])) {
    console[method] = (...args) => writeLog(method, format(...args));
  }
  console.trace = (...args) => {
    const { stack } = new Error(format(...args));
    writeLog('trace', String(stack).replace(/^Error/, 'Trace'));
  };
  globalThis.console = console;
}
