/** Pages that are sent in parts: a shell first, the rest as its data arrives. */

'use strict';

const { Writable } = require('node:stream');

const { encodeRendered, HAS_HEAD, STREAM_WINDOW, Type } = require('./frames.cjs');

/**
 * One streamed page. Ends with exactly one END or ERROR frame, after which it does nothing.
 *
 * At most STREAM_WINDOW bytes, and the write that goes beyond it, are on their way without
 * having been taken by the reader; after that the destination is held until a CREDIT frame.
 */
class Stream {
  #id;
  #outbox;
  #onEnd;
  #onError;
  #describe;
  /** @type {Map<string, Deferred>} */
  #deferred = new Map();
  /** @type {{ pipe(destination: Writable): unknown, abort(reason: unknown): void } | null} */
  #source = null;
  /** @type {string | null} head elements that the next chunk brings along */
  #head = null;
  /** @type {Uint8Array[]} */
  #parts = [];
  #window = STREAM_WINDOW;
  /** @type {(() => void) | null} */
  #held = null;
  #opened = false;
  #ended = false;
  #destination = new Writable({
    write: (part, _encoding, done) => this.#write(part, done),
    final: (done) => {
      this.#send();
      this.#end(Type.END, '');
      done();
    },
  });

  /**
   * @param {number} id
   * @param {import('./outbox.cjs').Outbox} outbox
   * @param {{
   *   onEnd: (id: number) => void,
   *   onError: (error: unknown) => void,
   *   describe: (error: unknown) => object,
   * }} owner `onError` is told of errors that do not end the stream
   */
  constructor(id, outbox, { onEnd, onError, describe }) {
    this.#id = id;
    this.#outbox = outbox;
    this.#onEnd = onEnd;
    this.#onError = onError;
    this.#describe = describe;
    this.#destination.on('error', (error) => this.fail(error));
  }

  /**
   * Begin to render. `render` is the `stream` export of a bundle (docs/wire.md, "The bundle").
   *
   * @param {Function} render
   * @param {number} page
   * @param {object} state
   */
  start(render, page, state) {
    this.#source = render(page, state, {
      deferred: (/** @type {string} */ name) => this.#entry(name).promise,
      onShellReady: (head = '') => queueMicrotask(() => this.#open(head)),
      onShellError: (/** @type {unknown} */ error) => this.fail(error),
      onError: (/** @type {unknown} */ error, /** @type {boolean} */ endsPage) => {
        if (this.#ended || isExpected(error)) return;
        if (this.#opened || !endsPage) this.#onError(error);
        else this.#giveUp(error);
      },
    });
  }

  /**
   * Settle the deferred value `name`, whether or not a component has asked for it yet.
   *
   * @param {string} name
   * @param {unknown} value
   * @param {boolean} rejected
   */
  settle(name, value, rejected) {
    const { resolve, reject } = this.#entry(name);
    if (rejected) reject(Object.assign(new Error(), value));
    else resolve(value);
  }

  /** @param {number} size bytes that the reader has taken */
  credit(size) {
    this.#window += size;
    this.resume();
  }

  /** Go on writing if the reader and the socket have room. */
  resume() {
    if (this.#held === null || this.#window <= 0 || this.#outbox.congested) return;
    const done = this.#held;
    this.#held = null;
    done();
  }

  /** The reader has left. */
  abort() {
    this.#end(Type.END, '');
    this.#destination.destroy();
    this.#source?.abort(new Error('the client has left'));
  }

  /** @param {unknown} error that ends the stream */
  fail(error) {
    if (this.#ended) return;
    this.#end(Type.ERROR, JSON.stringify(this.#describe(error)));
    this.#destination.destroy();
  }

  /**
   * End a page of which nothing has been sent: its response can still have the status of an error.
   *
   * @param {unknown} error
   */
  #giveUp(error) {
    this.fail(error);
    queueMicrotask(() => this.#source?.abort(error)); // React is in the middle of its work
  }

  /** @param {string} head */
  #open(head) {
    if (this.#ended) return;
    this.#opened = true;
    this.#head = head;
    this.#source?.pipe(this.#destination);
  }

  /**
   * @param {Uint8Array} part
   * @param {() => void} done
   */
  #write(part, done) {
    this.#parts.push(part);
    this.#window -= part.length;
    if (this.#parts.length === 1) queueMicrotask(() => this.#send()); // all parts of one flush
    this.#held = done;
    this.resume();
  }

  #send() {
    if (this.#ended || (this.#head === null && this.#parts.length === 0)) return;
    const body = Buffer.concat(this.#parts);
    this.#parts = [];
    const head = this.#head;
    this.#head = null;
    try {
      if (head === null) this.#outbox.frame(Type.CHUNK, this.#id, body);
      else this.#outbox.frame(Type.CHUNK, this.#id, encodeRendered(head, body), HAS_HEAD);
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * @param {number} type
   * @param {string} payload
   */
  #end(type, payload) {
    if (this.#ended) return;
    this.#ended = true;
    this.#parts = [];
    this.#outbox.frame(type, this.#id, payload);
    this.#onEnd(this.#id);
  }

  /** @param {string} name */
  #entry(name) {
    let entry = this.#deferred.get(name);
    if (entry === undefined) {
      entry = new Deferred();
      this.#deferred.set(name, entry);
    }
    return entry;
  }
}

/**
 * Whether an error was sent here by the application's server, which has logged it.
 *
 * @param {unknown} error
 */
function isExpected(error) {
  return error instanceof Error && 'expected' in error;
}

/** A promise with its two ends. A rejection that no component waits for is no error. */
class Deferred {
  /** @type {(value: unknown) => void} */
  resolve = () => {};
  /** @type {(reason: Error) => void} */
  reject = () => {};
  promise = new Promise((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    this.promise.catch(() => {});
  }
}

exports.Stream = Stream;
