/** A payload whose deferred values follow in the same response, each in a line of its own. */

import { PAYLOAD_LINES } from './payload.js';
import { bindPromises, Promises } from '../../view/promises.js';

/** @param {Response} response */
export function isInLines(response) {
  return response.headers.get('content-type') === PAYLOAD_LINES;
}

/**
 * Return the payload of the first line. The lines that follow settle its promises; its `stops` end
 * the response, and the server cancels what nobody waits for.
 *
 * @param {Response} response
 * @returns {Promise<any>}
 */
export async function readLines(response) {
  const decoder = /** @type {any} */ (new TextDecoderStream());
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
  const reader = body.pipeThrough(decoder).getReader();
  const lines = linesOf(reader);
  const first = await lines.next();
  if (first.done) throw new TypeError('The response ended before the payload was complete.');
  const state = first.value;
  const promises = new Promises();
  bindPromises(state, promises.of);
  state.stops = [() => void reader.cancel().catch(() => {})];
  void settleAll(lines, promises);
  return state;
}

/**
 * @param {AsyncIterable<any>} lines
 * @param {Promises} promises
 */
async function settleAll(lines, promises) {
  try {
    for await (const entry of lines) promises.settle(entry);
  } catch {
    // The connection was lost, or the view was left: `end` says so to whoever waits.
  } finally {
    promises.end();
  }
}

/**
 * @param {ReadableStreamDefaultReader<string>} reader
 * @returns {AsyncGenerator<any>}
 */
async function* linesOf(reader) {
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (text + value).split('\n');
    text = /** @type {string} */ (lines.pop());
    for (const line of lines) yield JSON.parse(line);
  }
}
