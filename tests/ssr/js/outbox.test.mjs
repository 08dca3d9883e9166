import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { FrameReader, Type } from '../../../fxtrio/js/worker/frames.cjs';
import { readClock } from '../../../fxtrio/js/worker/clock.cjs';
import { Outbox } from '../../../fxtrio/js/worker/outbox.cjs';

/** A socket that keeps what is written; `writableLength` is what it has not sent. */
class FakeSocket {
  writes = [];
  writableLength = 0;
  writableNeedDrain = false;

  write(bytes) {
    this.writes.push(Buffer.from(bytes)); // as the kernel does
  }

  /** All frames so far, as `[type, id, page, payload]`. */
  frames() {
    const got = [];
    const reader = new FrameReader((type, id, _flags, page, bytes, start, end) => {
      got.push([type, id, page, bytes.toString('utf8', start, end)]);
    });
    for (const bytes of this.writes) reader.feed(bytes);
    return got;
  }
}

function open() {
  const socket = new FakeSocket();
  return { socket, outbox: new Outbox(socket) };
}

test('replies of one moment leave in one write', () => {
  const { socket, outbox } = open();
  const clock = mock.method(process, 'hrtime', () => [1, 0]);
  outbox.html(1, readClock(), '', 'one');
  outbox.html(2, readClock(), '<title>', 'zwei ü');
  outbox.frame(Type.PONG, 3);
  assert.equal(socket.writes.length, 0);
  outbox.flush();
  clock.mock.restore();
  assert.equal(socket.writes.length, 1);
  assert.deepEqual(
    socket.frames().map(([type, id, , payload]) => [type, id, payload]),
    [
      [Type.HTML, 1, '\0\0\0\0one'],
      [Type.HTML, 2, '\x07\0\0\0<title>zwei ü'],
      [Type.PONG, 3, ''],
    ],
  );
});

test('a reply after long work does not wait for others', () => {
  const { socket, outbox } = open();
  const clock = mock.method(process, 'hrtime', () => [1, 0]);
  outbox.html(1, readClock() - 12.34, '', 'late');
  clock.mock.restore();
  assert.equal(socket.writes.length, 1);
  const [[, , steps]] = socket.frames();
  assert.equal(steps, 1234); // of 10 µs
});

test('a render time too long for its field is the largest there is', () => {
  const { socket, outbox } = open();
  outbox.html(1, readClock() - 3_600_000, '', '');
  assert.equal(socket.frames()[0][2], 0xffff);
});

test('a frame that nobody flushes leaves when the running code has ended', async () => {
  const { socket, outbox } = open();
  outbox.frame(Type.READY, 0, '{}');
  assert.equal(socket.writes.length, 0);
  await null;
  assert.deepEqual(socket.frames(), [[Type.READY, 0, 0, '{}']]);
});

for (const size of [80_000, 87_377, 100_000, 262_144, 300_000, 2_000_000]) {
  test(`${size} characters arrive, in order with what was before them`, () => {
    const { socket, outbox } = open();
    const html = 'ü'.repeat(size);
    outbox.html(1, readClock(), '', 'first');
    outbox.html(2, readClock(), '<b>', html);
    outbox.frame(Type.CHUNK, 3, html);
    outbox.html(4, readClock(), '', 'last');
    outbox.flush();
    const got = socket.frames();
    assert.deepEqual(
      got.map(([, id]) => id),
      [1, 2, 3, 4],
    );
    assert.equal(got[1][3], `\x03\0\0\0<b>${html}`);
    assert.equal(got[2][3], html);
  });
}

test('a batch that the socket still sends is not overwritten', () => {
  const { socket, outbox } = open();
  socket.write = function write(bytes) {
    this.writes.push(bytes); // not copied: it is still to be sent
    this.writableLength += bytes.length; // a kernel without room
  };
  for (let id = 1; id <= 5; id += 1) {
    outbox.html(id, readClock(), '', `page ${id}`);
    outbox.flush();
  }
  assert.deepEqual(
    socket.frames().map(([, , , payload]) => payload.slice(4)),
    ['page 1', 'page 2', 'page 3', 'page 4', 'page 5'],
  );
});
