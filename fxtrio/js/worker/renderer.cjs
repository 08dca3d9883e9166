/** What a worker does with frames: renders are begun, streams are fed, replies gathered. */

'use strict';

const fs = require('node:fs');

const { readClock } = require('./clock.cjs');
const { REJECTED, Type } = require('./frames.cjs');
const { Level, writeLog } = require('./log.cjs');
const { LONGEST_HOLD_MS } = require('./outbox.cjs');
const { Stream } = require('./streams.cjs');

const WRONG_RESULT =
  'render() of the bundle must return {head, html}, both of them strings, or a promise of it';

/** Answers requests in the order in which they come. */
class Renderer {
  /** @type {Map<number, Stream>} */
  #streams = new Map();
  /** @type {Set<number>} pages whose last render was short */
  #short = new Set();
  #mark = new Uint32Array(1);
  #app;
  #outbox;
  #stacks;
  #markFile;

  /**
   * @param {any} app the bundle
   * @param {import('./outbox.cjs').Outbox} outbox
   * @param {import('./stacks.cjs').Stacks} stacks
   * @param {number | null} markFile
   */
  constructor(app, outbox, stacks, markFile) {
    this.#app = app;
    this.#outbox = outbox;
    this.#stacks = stacks;
    this.#markFile = markFile;
  }

  /** @type {import('./frames.cjs').OnFrame} */
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
    const started = readClock();
    let state;
    try {
      if (!this.#short.has(page)) this.#outbox.flush(); // gathered replies need not wait for it
      this.#begin(id);
      state = JSON.parse(bytes.toString('utf8', start, end));
      const rendered = this.#app.render(page, state);
      if (rendered instanceof Promise) void this.#renderLater(id, started, rendered, state);
      else if (this.#answer(id, started, rendered) > LONGEST_HOLD_MS) this.#short.delete(page);
      else this.#short.add(page);
    } catch (error) {
      this.#fail(id, error, state);
    }
  }

  /**
   * Answer for a page that waits for something; others are rendered meanwhile.
   *
   * @param {number} id
   * @param {number} started
   * @param {Promise<{ head: string, html: string }>} rendering
   * @param {object} state
   */
  async #renderLater(id, started, rendering, state) {
    const worked = readClock() - started; // waiting costs the others nothing
    try {
      const rendered = await rendering;
      this.#answer(id, readClock() - worked, rendered);
    } catch (error) {
      this.#fail(id, error, state);
    }
    this.#outbox.flush();
  }

  /**
   * @param {number} id
   * @param {number} started
   * @param {{ head: string, html: string }} rendered
   * @returns {number} how long the render took (milliseconds)
   */
  #answer(id, started, { head, html }) {
    if (typeof head !== 'string' || typeof html !== 'string') throw new TypeError(WRONG_RESULT);
    return this.#outbox.html(id, started, head, html);
  }

  /**
   * @param {number} id
   * @param {unknown} error
   * @param {object | undefined} state
   */
  #fail(id, error, state) {
    this.#outbox.frame(Type.ERROR, id, JSON.stringify(this.#stacks.describe(error, state)));
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
      stream.start(this.#app.stream.bind(this.#app), page, state);
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

exports.Renderer = Renderer;
