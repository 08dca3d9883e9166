/** Replies on their way to the server: gathered in one buffer, sent in one write. */

'use strict';

const { readClock } = require('./clock.cjs');
const {
  encodeFrame,
  FRAME_LIMIT,
  FrameSizeInvalid,
  HEADER_SIZE,
  Type,
  writeHeader,
} = require('./frames.cjs');

/** Size of the buffer that replies are gathered in (bytes). */
const BATCH_SIZE = 256 * 1024;

/**
 * Work after which gathered replies leave without waiting for more of them (milliseconds). Each
 * write wakes the server, which costs it more than to read three replies in place of one.
 */
const LONGEST_HOLD_MS = 2;

/** Steps of the render time in the header of an HTML frame, per millisecond. */
const STEPS_PER_MS = 100;

/** Gathers frames for a socket. Whoever adds frames calls `flush` before waiting. */
class Outbox {
  #socket;
  #batch = Buffer.allocUnsafeSlow(BATCH_SIZE);
  #used = 0;
  #since = 0; // when the oldest gathered reply was begun
  #scheduled = false;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket;
  }

  /** Whether the server reads more slowly than this process writes. */
  get congested() {
    return this.#socket.writableNeedDrain;
  }

  /**
   * Add the HTML of a page.
   *
   * @param {number} id
   * @param {number} started when its render began (`readClock()`)
   * @param {string} head
   * @param {string} html
   * @returns {number} how long the render took (milliseconds)
   * @throws {FrameSizeInvalid} when it is too large for a frame; nothing is added then
   */
  html(id, started, head, html) {
    const now = readClock();
    const most = HEADER_SIZE + 4 + 3 * (head.length + html.length); // UTF-8 of a UTF-16 unit
    if (most > BATCH_SIZE - this.#used) this.flush();
    const target = most > BATCH_SIZE ? this.#large(head, html) : this.#batch;
    const at = target === this.#batch ? this.#used : 0;
    const headAt = at + HEADER_SIZE + 4;
    const headSize = head === '' ? 0 : target.write(head, headAt);
    const htmlSize = target.write(html, headAt + headSize);
    const took = now - started;
    const steps = Math.min(0xffff, Math.round(took * STEPS_PER_MS));
    writeHeader(target, at, Type.HTML, id, 0, steps, 4 + headSize + htmlSize);
    target.writeUInt32LE(headSize, at + HEADER_SIZE);
    if (target !== this.#batch) {
      this.#socket.write(target);
      return took;
    }
    if (this.#used === 0) this.#since = started;
    this.#used = headAt + headSize + htmlSize;
    if (now - this.#since > LONGEST_HOLD_MS) this.flush();
    return took;
  }

  /**
   * Add a frame of another type. It leaves with the next `flush`, and without one as soon
   * as the running code has ended.
   *
   * @param {number} type
   * @param {number} id
   * @param {string | Uint8Array} [payload]
   * @param {number} [flags]
   * @throws {FrameSizeInvalid} when it is too large; nothing is added then
   */
  frame(type, id, payload = '', flags = 0) {
    const frame = encodeFrame(type, id, payload, { flags });
    if (frame.length > BATCH_SIZE - this.#used) this.flush();
    if (frame.length > BATCH_SIZE) {
      this.#socket.write(frame);
      return;
    }
    if (this.#used === 0) this.#since = readClock();
    frame.copy(this.#batch, this.#used);
    this.#used += frame.length;
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Hand everything gathered to the socket. */
  flush() {
    if (this.#used === 0) return;
    const batch = this.#batch.subarray(0, this.#used);
    this.#used = 0;
    const behind = this.#socket.writableLength > 0;
    this.#socket.write(behind ? Buffer.from(batch) : batch);
    // The kernel took all of it unless the socket still counts some of it as unsent.
    if (!behind && this.#socket.writableLength > 0) {
      this.#batch = Buffer.allocUnsafeSlow(BATCH_SIZE);
    }
  }

  /**
   * @param {string} head
   * @param {string} html
   * @returns {Buffer} space for a reply that the batch has no room for
   */
  #large(head, html) {
    const size = 4 + Buffer.byteLength(head) + Buffer.byteLength(html);
    const length = HEADER_SIZE - 4 + size;
    if (length > FRAME_LIMIT) throw new FrameSizeInvalid(length, FRAME_LIMIT);
    return Buffer.allocUnsafe(HEADER_SIZE + size);
  }
}

exports.LONGEST_HOLD_MS = LONGEST_HOLD_MS;
exports.Outbox = Outbox;
