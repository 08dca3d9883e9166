/**
 * The frames spoken with the server: bytes in, frames out, without I/O.
 *
 * A frame is `u32 length | u32 id | u16 page | u8 type | u8 flags | payload`, little
 * endian; `length` counts everything after itself (docs/wire.md, "Frames"). The other
 * half is `fxtrio/ssr/frames.py`; both are tested with `tests/wire/frames.json`.
 */

'use strict';

/** Bytes before the payload. */
const HEADER_SIZE = 12;

/** Largest length of a frame, both ways (bytes). */
const FRAME_LIMIT = 64 * 1024 * 1024;

/** Bytes of a stream that may be on their way without having been taken by its reader. */
const STREAM_WINDOW = 262144;

const Type = Object.freeze({
  RENDER: 0,
  STREAM: 1,
  RESOLVE: 2,
  ABORT: 3,
  PING: 4,
  CREDIT: 5,
  HTML: 16,
  ERROR: 17,
  CHUNK: 18,
  END: 19,
  READY: 20,
  PONG: 21,
});

/** Flag of a CHUNK: the payload has the shape of an HTML payload. */
const HAS_HEAD = 1;

/** Flag of a RESOLVE: the value is the reason of a rejection. */
const REJECTED = 1;

const LEAST = HEADER_SIZE - 4; // the length of a frame without a payload

/** A frame whose length cannot be; the connection is of no use after it. */
class FrameSizeInvalid extends Error {
  /**
   * @param {number} length
   * @param {number} limit
   */
  constructor(length, limit) {
    super(`frame of ${length} bytes, but the limit is ${limit}`);
    this.name = 'FrameSizeInvalid';
    this.length = length;
    this.limit = limit;
  }
}

/**
 * Called for each frame. The payload is `bytes` from `start` to `end`, and is
 * overwritten after the call: read it, do not keep it.
 *
 * @callback OnFrame
 * @param {number} type
 * @param {number} id
 * @param {number} flags
 * @param {number} page
 * @param {Buffer} bytes
 * @param {number} start
 * @param {number} end
 * @returns {void}
 */

/** Cuts the bytes of a socket into frames. Holds at most one unfinished frame. */
class FrameReader {
  #onFrame;
  #limit;
  /** @type {Buffer[]} */
  #parts = [];
  #held = 0;
  #needed = HEADER_SIZE;

  /**
   * @param {OnFrame} onFrame
   * @param {number} [limit] largest length (bytes)
   */
  constructor(onFrame, limit = FRAME_LIMIT) {
    this.#onFrame = onFrame;
    this.#limit = limit;
  }

  /**
   * Report the frames that `data` completes, oldest first. What is left over is copied,
   * so `data` may be reused after the call.
   *
   * @param {Buffer} data
   * @throws {FrameSizeInvalid} when the length of a frame is too large or too small
   */
  feed(data) {
    let bytes = data;
    if (this.#held > 0) {
      this.#parts.push(Buffer.from(data));
      this.#held += data.length;
      if (this.#held < this.#needed) return;
      bytes = Buffer.concat(this.#parts, this.#held);
    }
    const size = bytes.length;
    let start = 0;
    let needed = HEADER_SIZE;
    while (size - start >= HEADER_SIZE) {
      const length = bytes.readUInt32LE(start);
      if (length < LEAST || length > this.#limit) throw new FrameSizeInvalid(length, this.#limit);
      const end = start + 4 + length;
      if (end > size) {
        needed = 4 + length;
        break;
      }
      const id = bytes.readUInt32LE(start + 4);
      const page = bytes.readUInt16LE(start + 8);
      this.#onFrame(
        bytes[start + 10],
        id,
        bytes[start + 11],
        page,
        bytes,
        start + HEADER_SIZE,
        end,
      );
      start = end;
    }
    this.#held = size - start;
    this.#parts = this.#held > 0 ? [Buffer.from(bytes.subarray(start))] : [];
    this.#needed = needed;
  }
}

/**
 * Write the header of a frame into `target`.
 *
 * @param {Buffer} target
 * @param {number} at offset of the frame in `target`
 * @param {number} type
 * @param {number} id
 * @param {number} flags
 * @param {number} page
 * @param {number} size bytes of the payload
 */
function writeHeader(target, at, type, id, flags, page, size) {
  target.writeUInt32LE(LEAST + size, at);
  target.writeUInt32LE(id, at + 4);
  target.writeUInt16LE(page, at + 8);
  target[at + 10] = type;
  target[at + 11] = flags;
}

/**
 * Return one frame.
 *
 * @param {number} type
 * @param {number} id
 * @param {string | Uint8Array} payload
 * @param {{ flags?: number, page?: number }} [more]
 * @returns {Buffer}
 * @throws {FrameSizeInvalid} when the payload is too large for the other side
 */
function encodeFrame(type, id, payload, { flags = 0, page = 0 } = {}) {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'utf8') : payload;
  if (LEAST + body.length > FRAME_LIMIT) {
    throw new FrameSizeInvalid(LEAST + body.length, FRAME_LIMIT);
  }
  const frame = Buffer.allocUnsafe(HEADER_SIZE + body.length);
  writeHeader(frame, 0, type, id, flags, page, body.length);
  frame.set(body, HEADER_SIZE);
  return frame;
}

/**
 * Return the payload of an HTML frame, or of the first CHUNK of a stream:
 * `u32 headLength | head | html`.
 *
 * @param {string} head
 * @param {Uint8Array} html
 * @returns {Buffer}
 */
function encodeRendered(head, html) {
  const headSize = Buffer.byteLength(head);
  const payload = Buffer.allocUnsafe(4 + headSize + html.length);
  payload.writeUInt32LE(headSize, 0);
  payload.write(head, 4, headSize);
  payload.set(html, 4 + headSize);
  return payload;
}

exports.HEADER_SIZE = HEADER_SIZE;
exports.FRAME_LIMIT = FRAME_LIMIT;
exports.STREAM_WINDOW = STREAM_WINDOW;
exports.Type = Type;
exports.HAS_HEAD = HAS_HEAD;
exports.REJECTED = REJECTED;
exports.FrameSizeInvalid = FrameSizeInvalid;
exports.FrameReader = FrameReader;
exports.writeHeader = writeHeader;
exports.encodeFrame = encodeFrame;
exports.encodeRendered = encodeRendered;
