/**
 * An SSR worker: renders the pages of a bundle for the server that started it.
 *
 *     node worker.cjs BUNDLE FD [MARK_FD [WATCHED_PARENT]]
 *
 * FD is one end of a Unix socket pair (docs/wire.md). MARK_FD is a file whose first four
 * bytes say which request is being worked on, so that the server knows what a dead or hung
 * worker was doing. WATCHED_PARENT is the process after whose end this one must not live,
 * where the kernel does not see to it.
 */

'use strict';

const { inlineMore } = require('./options.cjs'); // first: what is loaded after it is not compiled anew

const net = require('node:net');
const path = require('node:path');

const { loadBundle } = require('./bundle.cjs');
const { FrameReader, Type } = require('./frames.cjs');
const { Level, replaceConsole, writeLog } = require('./log.cjs');
const { Outbox } = require('./outbox.cjs');
const { Renderer } = require('./renderer.cjs');
const { refuseSignals } = require('./signals.cjs');
const { Stacks } = require('./stacks.cjs');

/** Size of the buffer that the socket is read into (bytes). */
const READ_SIZE = 256 * 1024;

/** @param {number} parent process id */
function watchParent(parent) {
  const { Worker } = require('node:worker_threads');
  const thread = new Worker(path.join(__dirname, 'parent-death.cjs'), {
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
  if (parent !== undefined) watchParent(Number(parent));
  const stacks = new Stacks();
  replaceConsole((text) => stacks.locate(text));
  refuseSignals();
  process.on('unhandledRejection', (reason) => {
    writeLog(Level.ERROR, `Unhandled rejection: ${stacks.text(reason)}`);
  });
  // Renders leave no state behind that an error elsewhere could spoil: log it and go on.
  process.on('uncaughtException', (error) => {
    writeLog(Level.ERROR, `Uncaught exception: ${stacks.text(error)}`);
  });
  try {
    const app = await loadBundle(bundle);
    inlineMore();
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

void main();
