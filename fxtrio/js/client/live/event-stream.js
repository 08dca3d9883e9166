/** Values of a streamed action, read from the body of its response (`text/event-stream`). */

/**
 * Read events up to `event: end`. The values of one read are given together, so that they can be
 * one update.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {(values: any[]) => void} onValues
 * @returns {Promise<any>} the data of the end; null when the connection was lost before it
 */
export async function readEvents(body, onValues) {
  const decoder = /** @type {any} */ (new TextDecoderStream());
  const reader = body.pipeThrough(decoder).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    text += value;
    const events = text.split('\n\n');
    text = /** @type {string} */ (events.pop()); // the beginning of the next one
    const found = events.map(parseEvent).filter((event) => event !== null);
    const end = found.find((event) => event.isEnd);
    const values = found.filter((event) => !event.isEnd).map((event) => event.data);
    if (values.length > 0) onValues(values);
    if (end !== undefined) return end.data;
  }
}

/**
 * @param {string} event its lines
 * @returns {{ isEnd: boolean, data: any } | null} null for a comment
 */
function parseEvent(event) {
  const line = event.split('\n').find((each) => each.startsWith('data: '));
  if (line === undefined) return null;
  return { isEnd: event.startsWith('event: end\n'), data: JSON.parse(line.slice(6)) };
}
