/** The browsers that show the app: one connection each, over which updates and problems go. */

import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

import { Level, writeLog } from '../worker/log.cjs';

/** @typedef {import('./settings.js').OverlayProblem} OverlayProblem */
/** @typedef {import('node:net').Socket} Socket */
/** @typedef {import('./updates/styles.js').Styles} Styles */

/** Unsent bytes above which a browser is given up: it reads no more, and comes again. */
const MOST_UNSENT = 4 * 1024 * 1024;

/** Messages that are kept for browsers whose connection was interrupted. */
const CAPACITY = 500;

/**
 * Return the time by a clock that nobody sets, which the server process reads as well (ms).
 */
export function clock() {
  return Math.floor(Number(process.hrtime.bigint()) / 1e6);
}

/** @type {(value: unknown) => boolean} */
const isObject = (value) => typeof value === 'object' && value !== null;

/**
 * @param {any} payload
 * @param {Styles} styles
 */
function withStyles(payload, styles) {
  if (payload.type !== 'update') return payload;
  const updates = payload.updates.map((/** @type {{ acceptedPath: string }} */ update) => {
    const style = styles.get(update.acceptedPath);
    return style === undefined ? update : { ...update, style };
  });
  return { ...payload, updates };
}

/** @param {OverlayProblem} problem */
function lineOf({ file, line }) {
  return `${file}:${line}`;
}

/**
 * @param {string} line
 * @returns {{ type?: unknown, event?: unknown, data?: any }} without anything when it is no message
 */
function parsed(line) {
  try {
    const message = JSON.parse(line);
    return isObject(message) ? message : {};
  } catch {
    return {};
  }
}

/**
 * Let a listener act on what a browser says; nothing that it says ends this process.
 *
 * @param {Function} listener
 * @param {unknown} data
 * @param {object} client
 */
async function act(listener, data, client) {
  try {
    await listener(data, client);
  } catch (error) {
    writeLog(Level.WARNING, `A message from a browser could not be handled: ${error}`);
  }
}

/**
 * Also the channel of Vite's client environment: what Vite sends goes to every browser.
 */
export class Browsers {
  /** @type {Set<Socket>} */
  #sockets = new Set();
  /** @type {Map<string, Set<Function>>} */
  #listeners = new Map();
  /** @type {Map<string, OverlayProblem[]>} by who has found them */
  #problems = new Map();
  /** @type {{ at: number, payload: object }[]} the last messages to all, numbered, by `clock` */
  #kept = [];
  #last = 0;
  /** What waits for `release`, in order. @type {any[] | null} */
  #held = null;
  /** Tells this process from the one before, whose numbers mean nothing here. */
  #epoch = randomUUID();

  /** Whether anybody learns of updates. */
  get isHeard() {
    return this.#sockets.size > 0;
  }

  /** Number of the last message to all. */
  get last() {
    return this.#last;
  }

  /** @param {Socket} socket lines of JSON in both directions */
  add(socket) {
    this.#sockets.add(socket);
    const client = { send: (/** @type {object} */ payload) => this.#tell(socket, payload) };
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    client.send({ type: 'connected', epoch: this.#epoch, number: this.#last });
    client.send(this.#standing());
    createInterface({ input: socket })
      .on('line', (line) => this.#hear(socket, client, line))
      .on('error', () => socket.destroy()); // it hands on the socket's own
  }

  /**
   * Act on what a browser says, which may be anybody that reaches the server.
   *
   * @param {Socket} socket
   * @param {{ send: (payload: object) => void }} client
   * @param {string} line
   */
  #hear(socket, client, line) {
    const { type, event, data } = parsed(line);
    if (type !== 'custom' || typeof event !== 'string') return;
    if (event === 'fx:since' && isObject(data)) this.#catchUp(socket, data);
    if (event === 'fx:loaded' && isObject(data)) this.#recall(socket, data);
    // Vite's own events ask it for files, too, and know nothing of what browsers may load.
    if (event.startsWith('vite:') && event !== 'vite:invalidate') return;
    for (const listener of this.#listeners.get(event) ?? []) void act(listener, data, client);
  }

  /**
   * Returns the absolute paths of the page files that need a file.
   *
   * @type {(file: string) => string[]}
   */
  pagesOf = () => [];

  /** @param {any} payload */
  send(payload) {
    if (this.#held !== null) this.#held.push(payload);
    else this.#send(payload, null);
  }

  /**
   * @param {any} payload
   * @param {Styles | null} styles
   */
  #send(payload, styles) {
    this.#last += 1;
    const numbered = { number: this.#last, ...this.#withPages(payload) };
    this.#kept.push({ at: clock(), payload: numbered }); // without texts, of which that may be many
    if (this.#kept.length > CAPACITY) this.#kept.shift();
    const complete = styles === null ? numbered : withStyles(numbered, styles);
    for (const socket of this.#sockets) this.#tell(socket, complete);
  }

  /** Hold messages back until `release` is called. */
  hold() {
    this.#held = [];
  }

  /**
   * Send what was held back.
   *
   * @param {Styles} styles what updates of them bring along, so that browsers need not ask for it
   */
  release(styles) {
    const held = this.#held ?? [];
    this.#held = null;
    for (const payload of held) this.#send(payload, styles);
  }

  /**
   * Add to a failure of Vite which pages need what has failed, if it names that.
   *
   * @param {any} payload
   */
  #withPages(payload) {
    const file = payload.type === 'error' ? (payload.err.loc?.file ?? payload.err.id) : undefined;
    if (file === undefined) return payload;
    return { ...payload, err: { ...payload.err, pages: this.pagesOf(file) } };
  }

  /**
   * Send what a browser has missed; where that is not known any more, let it load the page.
   *
   * @param {Socket} socket
   * @param {{ epoch: string, number: number }} last that it has heard
   */
  #catchUp(socket, { epoch, number }) {
    const missed = this.#last - number;
    if (epoch !== this.#epoch || missed > this.#kept.length) {
      this.#tell(socket, { type: 'full-reload' });
      return;
    }
    if (missed > 0) {
      for (const { payload } of this.#kept.slice(-missed)) this.#tell(socket, payload);
    }
  }

  /**
   * Send what has come since a document was asked for, which may be older than that: nobody
   * listened in it until now.
   *
   * @param {Socket} socket
   * @param {{ asked?: unknown, age?: unknown }} document when it was asked for, by `clock`, or
   *   how long ago (ms)
   */
  #recall(socket, { asked, age }) {
    if (typeof asked !== 'number' && typeof age !== 'number') return;
    const since = typeof asked === 'number' ? asked : clock() - Number(age);
    for (const { at, payload } of this.#kept) if (at >= since) this.#tell(socket, payload);
  }

  /**
   * @param {string} event
   * @param {object} data
   */
  announce(event, data) {
    this.send({ type: 'custom', event, data });
  }

  /**
   * Say what is wrong now, as far as one of those who look for problems knows.
   *
   * @param {string} key of who has found them
   * @param {OverlayProblem[]} problems
   */
  setProblems(key, problems) {
    if (problems.length > 0) this.#problems.set(key, problems);
    else if (!this.#problems.delete(key)) return;
    this.send(this.#standing());
  }

  /**
   * @param {string} event
   * @param {Function} listener
   */
  on(event, listener) {
    const known = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, known.add(listener));
  }

  /**
   * @param {string} event
   * @param {Function} listener
   */
  off(event, listener) {
    this.#listeners.get(event)?.delete(listener);
  }

  listen() {}

  close() {}

  /** What is wrong now. Where two know of one line, the first of them tells. */
  #standing() {
    /** @type {OverlayProblem[]} */
    const data = [];
    for (const found of this.#problems.values()) {
      const known = new Set(data.map(lineOf));
      data.push(...found.filter((one) => !one.finding || !known.has(lineOf(one))));
    }
    return { type: 'custom', event: 'fx:problems', data };
  }

  /**
   * @param {Socket} socket
   * @param {object} payload
   */
  #tell(socket, payload) {
    if (socket.writableLength > MOST_UNSENT) socket.destroy();
    else if (socket.writable) socket.write(`${JSON.stringify(payload)}\n`);
  }
}
