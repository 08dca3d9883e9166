/**
 * What page code prints goes to stderr, each line with the level of its message in front
 * (`<4>` is a warning: docs/wire.md, "Log lines").
 *
 * A write waits until the server has taken it, so that nothing is lost when the process
 * ends, and page code that prints without end is noticed before memory is full of it.
 */

'use strict';

const { Console } = require('node:console');
const fs = require('node:fs');
const { Writable } = require('node:stream');
const { format } = require('node:util');

/** The levels of syslog that are used. */
const Level = Object.freeze({ ERROR: 3, WARNING: 4, INFO: 6, DEBUG: 7 });

const STDERR = 2;

/** Pause before another attempt when the pipe is full and does not wait by itself. */
const RETRY_MS = 1;

const clock = new Int32Array(new SharedArrayBuffer(4)); // only to wait on

/**
 * Write a message, its level in front of each of its lines.
 *
 * @param {number} level
 * @param {string} text
 */
function writeLog(level, text) {
  const lines = Buffer.from(`<${level}>${text.replaceAll('\n', `\n<${level}>`)}\n`);
  let written = 0;
  while (written < lines.length) {
    try {
      written += fs.writeSync(STDERR, lines, written);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') return; // nobody reads
      Atomics.wait(clock, 0, 0, RETRY_MS);
    }
  }
}

/**
 * Let the global `console` write to stderr, with levels.
 *
 * @param {(text: string) => string} [locate] gives places in a text the names that people know
 */
function replaceConsole(locate = (text) => text) {
  const console = new Console(streamOf(Level.INFO, locate), streamOf(Level.WARNING, locate));
  console.debug = (...args) => writeLog(Level.DEBUG, locate(format(...args)));
  console.error = (...args) => writeLog(Level.ERROR, locate(format(...args)));
  globalThis.console = console;
}

/**
 * @param {number} level
 * @param {(text: string) => string} locate
 * @returns {Writable} a stream of messages, each ended by a newline
 */
function streamOf(level, locate) {
  return new Writable({
    decodeStrings: false,
    write(message, _encoding, done) {
      writeLog(level, locate(String(message).replace(/\n$/, '')));
      done();
    },
  });
}

exports.Level = Level;
exports.writeLog = writeLog;
exports.replaceConsole = replaceConsole;
