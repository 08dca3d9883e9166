/** Renders for one server process, over one connection: the frames of docs/wire.md. */

import { FrameReader, Type } from '../worker/frames.cjs';
import { Level, writeLog } from '../worker/log.cjs';
import { Outbox } from '../worker/outbox.cjs';
import { Renderer } from '../worker/renderer.cjs';
import { Stacks } from '../worker/stacks.cjs';

/**
 * @param {import('node:net').Socket} socket
 * @param {import('./views.js').Views} views
 */
export function answerFrames(socket, views) {
  const outbox = new Outbox(socket);
  const stacks = new Stacks();
  const renderer = new Renderer(views, outbox, stacks, null);
  /** What is loaded first, by request: frames of the same request wait for it, in order. */
  const loading = new Map();
  const reader = new FrameReader((type, id, flags, page, bytes, start, end) => {
    const begins = type === Type.RENDER || type === Type.STREAM;
    if (!begins && !loading.has(id)) {
      renderer.handle(type, id, flags, page, bytes, start, end);
      return;
    }
    const payload = Buffer.from(bytes.subarray(start, end)); // the buffer is used again
    const state = () => JSON.parse(payload.toString('utf8'));
    const before = begins ? views.load(page, state) : loading.get(id);
    const done = before
      .then(
        (/** @type {number} */ slot) =>
          renderer.handle(type, id, flags, begins ? slot : page, payload, 0, payload.length),
        (/** @type {unknown} */ error) => {
          if (begins) outbox.frame(Type.ERROR, id, JSON.stringify(stacks.describe(error)));
          throw error;
        },
      )
      .finally(() => {
        if (loading.get(id) === done) loading.delete(id);
        outbox.flush();
      });
    done.catch(() => {}); // it has been answered
    loading.set(id, done);
  });
  socket.on('data', (data) => {
    try {
      reader.feed(/** @type {Buffer} */ (data));
    } catch (error) {
      writeLog(Level.ERROR, `Broken connection: ${error}`);
      socket.destroy();
    }
    outbox.flush();
  });
  socket.on('drain', () => renderer.resume());
  socket.on('error', () => socket.destroy());
  const { pid, version: node } = process;
  const ready = { pages: 0, pid, node, buildId: '' };
  outbox.frame(Type.READY, 0, JSON.stringify(ready));
}
