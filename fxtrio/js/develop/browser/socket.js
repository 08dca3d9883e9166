/**
 * The connection to `fx dev`, which lasts as long as the page: where the server process is
 * started anew, it is opened anew, and the page stays as it is.
 */

/** Pause before another attempt (ms): a server process needs some tenths of a second. */
const PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 2000;

/**
 * Return a class that Vite's client uses in the place of `WebSocket`.
 *
 * @param {string} base URL prefix of modules
 */
export function hotSocket(base) {
  const url = new URL(`${base}@hot`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');

  return class extends EventTarget {
    static OPEN = 1;
    OPEN = 1;
    /** @type {WebSocket | null} */
    #socket = null;
    #opened = false;
    #pause = PAUSE_MS;

    constructor() {
      super();
      this.#connect();
    }

    get readyState() {
      return this.#socket?.readyState ?? 0;
    }

    /** @param {string} text */
    send(text) {
      if (this.readyState === 1) this.#socket?.send(text);
    }

    close() {}

    #connect() {
      const socket = new WebSocket(url);
      this.#socket = socket;
      socket.addEventListener('open', () => {
        this.#pause = PAUSE_MS;
        const again = this.#opened;
        this.#opened = true;
        if (!again) this.dispatchEvent(new Event('open'));
        else window.dispatchEvent(new Event('fx:reconnected'));
      });
      socket.addEventListener('message', ({ data }) => {
        this.dispatchEvent(new MessageEvent('message', { data }));
      });
      socket.addEventListener('close', () => {
        setTimeout(() => this.#connect(), this.#pause);
        this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 1.5);
      });
    }
  };
}
