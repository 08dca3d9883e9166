import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import * as frames from '../../../fxtrio/js/worker/frames.cjs';

const { FrameReader, FrameSizeInvalid, Type, encodeFrame, encodeRendered } = frames;
const wire = JSON.parse(
  fs.readFileSync(new URL('../../wire/frames.json', import.meta.url), 'utf8'),
);

/** Feed `bytes` in pieces, overwriting each piece afterwards as a socket does. */
function read(bytes, sizes, limit) {
  const got = [];
  const reader = new FrameReader((type, id, flags, page, buffer, start, end) => {
    const payload = buffer.toString('hex', start, end);
    got.push({ type, id, page, flags, payload });
  }, limit);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const piece = Buffer.from(bytes.subarray(at, at + sizes[turn % sizes.length]));
    at += piece.length;
    reader.feed(piece);
    piece.fill(0xee);
  }
  return got;
}

const expected = wire.frames.map(({ type, id, page, flags, payload }) => ({
  type,
  id,
  page,
  flags,
  payload,
}));
const all = Buffer.from(wire.frames.map((frame) => frame.bytes).join(''), 'hex');

for (const frame of wire.frames) {
  test(`frames: ${frame.name}`, () => {
    const { type, id, page, flags } = frame;
    const payload = Buffer.from(frame.payload, 'hex');
    assert.equal(encodeFrame(type, id, payload, { flags, page }).toString('hex'), frame.bytes);
  });
}

for (const sizes of [[1], [2], [11], [12], [13], [1, 50, 3], [7, 1, 1, 400], [all.length]]) {
  test(`pieces of ${sizes} bytes give the same frames`, () => {
    assert.deepEqual(read(all, sizes), expected);
  });
}

for (const { name, head, html, payload } of wire.rendered) {
  test(`rendered: ${name}`, () => {
    assert.equal(encodeRendered(head, Buffer.from(html)).toString('hex'), payload);
  });
}

for (const { name, limit, bytes } of wire.refused) {
  test(`refused: ${name}`, () => {
    assert.throws(() => read(Buffer.from(bytes, 'hex'), [5], limit), FrameSizeInvalid);
  });
}

test('both languages use the same numbers', () => {
  const { headerSize, frameLimit, streamWindow, hasHead, rejected, types } = wire.constants;
  assert.deepEqual({ ...Type }, types);
  assert.deepEqual(
    [headerSize, frameLimit, streamWindow, hasHead, rejected],
    [
      frames.HEADER_SIZE,
      frames.FRAME_LIMIT,
      frames.STREAM_WINDOW,
      frames.HAS_HEAD,
      frames.REJECTED,
    ],
  );
});

test('a payload too large for the other side is not sent', () => {
  const payload = new Uint8Array(frames.FRAME_LIMIT - 7);
  assert.throws(() => encodeFrame(Type.HTML, 1, payload), FrameSizeInvalid);
});
