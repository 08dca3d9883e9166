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

import fs from 'node:fs';
import net from 'node:net';
import { pathToFileURL } from 'node:url';

import { FrameReader, REJECTED, Type } from './frames.js';
import { Level, replaceConsole, writeLog } from './log.js';
import { Outbox } from './outbox.js';
import { refuseSignals } from './signals.js';
import { Stacks } from './stacks.js';
import { Stream } from './streams.js';

/** Size of the buffer that the socket is read into (bytes). */
const READ_SIZE = 256 * 1024;

const WRONG_RESULT = 'render() of the bundle must return {head, html}, both of them strings';

/** Answers requests in the order in which they come. */
class Renderer {
  /** @type {Map<number, Stream>} */
  #streams = new Map();
  #mark = new Uint32Array(1);
  #app;
  #outbox;
  #stacks;
  #markFile;

  /**
   * @param {any} app the bundle
   * @param {Outbox} outbox
   * @param {Stacks} stacks
   * @param {number | null} markFile
   */
  constructor(app, outbox, stacks, markFile) {
    this.#app = app;
    this.#outbox = outbox;
    this.#stacks = stacks;
    this.#markFile = markFile;
  }

  /** @type {import('./frames.js').OnFrame} */
  handle = (type, id, flags, page, bytes, start, end) => {
    if (type === Type.RENDER) this.#render(id, page, bytes, start, end);
    else if (type === Type.STREAM) this.#stream(id, page, bytes, start, end);
    else if (type === Type.RESOLVE) this.#resolve(id, flags, bytes, start, end);
    else if (type === Type.CREDIT) this.#streams.get(id)?.credit(bytes.readUInt32LE(start));
    else if (type === Type.ABORT) this.#streams.get(id)?.abort();
    else if (type === Type.PING) this.#outbox.frame(Type.PONG, id);
  };

  /** The server reads again. */
  resume() {
    for (const stream of this.#streams.values()) stream.resume();
  }

  /**
   * @param {number} id
   * @param {number} page
   * @param {Buffer} bytes
   * @param {number} start
   * @param {number} end
   */
  #render(id, page, bytes, start, end) {
    const started = performance.now();
    let state;
    try {
      this.#begin(id);
      state = JSON.parse(bytes.toString('utf8', start, end));
      const { head, html } = this.#app.render(page, state);
      if (typeof head !== 'string' || typeof html !== 'string') throw new TypeError(WRONG_RESULT);
      this.#outbox.html(id, started, head, html);
    } catch (error) {
      this.#outbox.frame(Type.ERROR, id, JSON.stringify(this.#stacks.describe(error, state)));
    }
  }

  /**
   * @param {number} id
   * @param {number} page
   * @param {Buffer} bytes
   * @param {number} start
   * @param {number} end
   */
  #stream(id, page, bytes, start, end) {
    /** @type {any} */
    let state;
    const stream = new Stream(id, this.#outbox, {
      onEnd: (ended) => this.#streams.delete(ended),
      onError: (error) => writeLog(Level.ERROR, this.#stacks.text(error, state)),
      describe: (error) => this.#stacks.describe(error, state),
    });
    this.#streams.set(id, stream);
    try {
      this.#begin(id);
      state = JSON.parse(bytes.toString('utf8', start, end));
      stream.start(this.#app.stream, page, state);
    } catch (error) {
      stream.fail(error);
    }
  }

  /**
   * @param {number} id
   * @param {number} flags
   * @param {Buffer} bytes
   * @param {number} start
   * @param {number} end
   */
  #resolve(id, flags, bytes, start, end) {
    const stream = this.#streams.get(id);
    if (stream === undefined) return; // it has ended in the meantime
    const [name, value] = JSON.parse(bytes.toString('utf8', start, end));
    stream.settle(name, value, (flags & REJECTED) !== 0);
  }

  /** @param {number} id of the request that is now worked on */
  #begin(id) {
    if (this.#markFile === null) return;
    this.#mark[0] = id;
    fs.writeSync(this.#markFile, this.#mark, 0, 4, 0);
  }
}

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
