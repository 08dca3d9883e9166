/**
 * The connection to `fx dev`, which lasts as long as the page: where the server process is
 * started anew, it is opened anew, and the page stays as it is.
 */

/** Pause before another attempt (ms): a server process needs some tenths of a second. */
const PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 2000;

/** Messages that wait for a connection; those above it are dropped. */
const MOST_UNSENT = 100;

/**
 * What `fx dev` has said, mostly before anybody listens: what is wrong with files, and whether
 * another process serves than the one that has sent this document, or has done meanwhile.
 *
 * @type {{ problems: import('../settings.js').OverlayProblem[], isReplaced: boolean }}
 */
export const standing = { problems: [], isReplaced: false };

function tellReplaced() {
  standing.isReplaced = true;
  self.dispatchEvent(new Event('fx:reconnected'));
}

/**
 * Call a function when another process serves than the one that has sent this document: now, if
 * it does already.
 *
 * @param {() => void} act
 */
export function whenReplaced(act) {
  self.addEventListener('fx:reconnected', act);
  if (standing.isReplaced) act();
}

/**
 * Return what the server says of the response that this document came with; undefined where it,
 * or the browser, says nothing, and in workers.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function timingOfDocument(name) {
  const [entry] = performance.getEntriesByType('navigation');
  const timing = /** @type {PerformanceNavigationTiming | undefined} */ (entry);
  return timing?.serverTiming?.find((timing) => timing.name === name)?.description;
}

/** As much of a WebSocket as Vite's client uses. It never closes. */
class HotSocket extends EventTarget {
  static OPEN = 1;
  OPEN = 1;
  /** @type {WebSocket | null} */
  #socket = null;
  #url;
  #opened = false;
  /** @type {{ epoch: string, number: number } | null} the last message that was heard */
  #heard = null;
  #pause = PAUSE_MS;
  /** @type {string[]} what was said while nobody listened */
  #unsent = [];

  /** @param {URL} url */
  constructor(url) {
    super();
    this.#url = url;
    this.#connect();
  }

  get readyState() {
    return this.#socket?.readyState ?? 0;
  }

  /** @param {string} text */
  send(text) {
    if (this.readyState === 1) this.#socket?.send(text);
    else if (this.#unsent.length < MOST_UNSENT) this.#unsent.push(text);
  }

  close() {}

  /** @param {string} data */
  #receive(data) {
    const { type, epoch, number, event, data: payload } = JSON.parse(data);
    if (type === 'custom' && event === 'fx:problems') standing.problems = payload;
    if (type === 'custom' && event === 'fx:process') {
      const sender = timingOfDocument('fx-process');
      if (this.#heard === null && sender !== undefined && sender !== payload.id) tellReplaced();
      return;
    }
    if (type === 'connected' && this.#heard !== null) {
      tellReplaced();
      return;
    }
    if (type === 'connected') this.#heard = { epoch, number };
    else if (number !== undefined && this.#heard !== null) this.#heard.number = number;
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  #connect() {
    const socket = new self.WebSocket(this.#url); // the name alone is this one's in Vite's client
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#pause = PAUSE_MS;
      const again = this.#opened;
      this.#opened = true;
      if (!again) this.dispatchEvent(new Event('open'));
      if (again && this.#heard !== null) {
        socket.send(JSON.stringify({ type: 'custom', event: 'fx:since', data: this.#heard }));
      }
      for (const text of this.#unsent.splice(0)) socket.send(text);
    });
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', () => {
      setTimeout(() => this.#connect(), this.#pause);
      this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 1.5);
    });
  }
}

/**
 * Return a class that Vite's client uses in the place of `WebSocket`.
 *
 * @param {string} base URL prefix of modules
 */
export function hotSocket(base) {
  const url = new URL(`${base}@hot`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return class extends HotSocket {
    constructor() {
      super(url);
    }
  };
}
