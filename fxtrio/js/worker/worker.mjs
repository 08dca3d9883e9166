/**
 * An SSR worker: renders the pages of a bundle for the server that started it.
 *
 *     node worker.mjs BUNDLE FD [MARK_FD [WATCHED_PARENT]]
 *
 * FD is one end of a Unix socket pair (docs/wire.md). MARK_FD is a file whose first four
 * bytes say which request is being worked on, so that the server knows what a dead or hung
 * worker was doing. WATCHED_PARENT is the process after whose end this one must not live,
 * where the kernel does not see to it.
 */

import net from 'node:net';
import { pathToFileURL } from 'node:url';

import { FrameReader, Type } from './frames.js';
import { Level, replaceConsole, writeLog } from './log.js';
import { Outbox } from './outbox.js';
import { Renderer } from './renderer.js';
import { refuseSignals } from './signals.js';
import { Stacks } from './stacks.js';

/** Size of the buffer that the socket is read into (bytes). */
const READ_SIZE = 256 * 1024;

/** @param {number} parent process id */
async function watchParent(parent) {
  const { Worker } = await import('node:worker_threads');
  const thread = new Worker(new URL('./parent-death.cjs', import.meta.url), {
    workerData: parent,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  thread.unref();
}

/**
 * Answer what comes over the socket `fd`, until the server closes it.
 *
 * @param {number} fd
 * @param {(outbox: Outbox) => Renderer} makeRenderer
 * @returns {Outbox}
 */
function serve(fd, makeRenderer) {
  /** @type {import('node:net').OnReadOpts} */
  const onread = {
    buffer: Buffer.allocUnsafeSlow(READ_SIZE),
    callback: (size, buffer) => receive(/** @type {Buffer} */ (buffer).subarray(0, size)),
  };
  const both = { fd, readable: true, writable: true, onread };
  const socket = new net.Socket(both);
  const outbox = new Outbox(socket);
  const renderer = makeRenderer(outbox);
  const reader = new FrameReader(renderer.handle);
  const receive = (/** @type {Buffer} */ data) => {
    try {
      reader.feed(data);
    } catch (error) {
      writeLog(Level.ERROR, `Broken connection: ${error}`);
      process.exit(1);
    }
    outbox.flush();
    return true;
  };
  socket.on('drain', () => renderer.resume());
  socket.on('end', () => process.exit(0));
  socket.on('error', () => process.exit(0));
  process.on('exit', () => outbox.flush()); // what is done need not be done again elsewhere
  socket.resume();
  return outbox;
}

async function main() {
  const [bundle, fd, markFile, parent] = process.argv.slice(2);
  if (parent !== undefined) await watchParent(Number(parent));
  replaceConsole();
  refuseSignals();
  const stacks = new Stacks();
  process.on('unhandledRejection', (reason) => {
    writeLog(Level.ERROR, `Unhandled rejection: ${stacks.text(reason)}`);
  });
  // Renders leave no state behind that an error elsewhere could spoil: log it and go on.
  process.on('uncaughtException', (error) => {
    writeLog(Level.ERROR, `Uncaught exception: ${stacks.text(error)}`);
  });
  try {
    const app = await import(pathToFileURL(bundle).href);
    const mark = markFile === undefined ? null : Number(markFile);
    const outbox = serve(Number(fd), (out) => new Renderer(app, out, stacks, mark));
    const { pages, buildId } = app;
    const ready = { pages, pid: process.pid, node: process.version, buildId };
    outbox.frame(Type.READY, 0, JSON.stringify(ready));
  } catch (error) {
    writeLog(Level.ERROR, stacks.text(error));
    process.exit(1);
  }
}

await main();
