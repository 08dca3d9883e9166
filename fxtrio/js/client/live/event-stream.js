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
  const splitter = new EventSplitter();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    const events = splitter.feed(value);
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

/** Text in, whole events out. Text is looked at once, however many parts an event comes in. */
export class EventSplitter {
  /** Parts of an event that is not whole. @type {string[]} */
  #parts = [];

  /**
   * @param {string} text
   * @returns {string[]} the events that it completes
   */
  feed(text) {
    // An end may be divided between two parts.
    const divided = text.startsWith('\n') && this.#parts.at(-1)?.endsWith('\n');
    const [first, ...events] = divided ? ['', ...text.slice(1).split('\n\n')] : text.split('\n\n');
    if (!divided) this.#parts.push(first);
    if (events.length === 0) return [];
    const whole = this.#parts.join('');
    this.#parts = [/** @type {string} */ (events.pop())];
    return [divided ? whole.slice(0, -1) : whole, ...events];
  }
}
