/** `useWebSocket`: a connection for as long as a component is shown. */

import { useCallback, useEffect, useRef, useState } from 'react';

import { useRoute } from '../contexts.js';
import { useLatest } from '../latest.js';
import {
  askingForMissed,
  decodeFrame,
  encodeFrame,
  lossOf,
  missedIn,
  pauseBefore,
} from './reconnect.js';
import { withBase } from '../navigation/urls.js';

/**
 * @typedef {object} WebSocketOptions
 * @property {(message: any) => void} [onMessage]
 * @property {() => void} [onOpen] also after each reconnection
 * @property {(missed: { count: number | null }) => void} [onMissed] messages may be lost: after
 *   each reconnection (`count` is null), and where the server says so
 * @property {(event: CloseEvent) => void} [onClose]
 * @property {boolean} [enabled] false closes the connection
 * @property {string | string[]} [protocols]
 */

/**
 * A connection whose effect has ended: `end` comes next, unless the effect begins again at once.
 *
 * @typedef {{ key: string, opened: Connection, end: () => void, timer: ReturnType<typeof setTimeout> }} Leaving
 */

/**
 * Keep a WebSocket open to `path`, by default the page's own. It is opened again after a
 * pause that grows when it is lost; not after a close that is final (1000, 1008, 4000 and up…).
 *
 * `send` returns false, and drops the message, while the connection is not open. Only components
 * that read `lastMessage` are rendered for each message.
 *
 * @param {string} [path] a path of the app, or a `ws:` URL
 * @param {WebSocketOptions} [options]
 * @returns {{
 *   status: 'connecting' | 'open' | 'closed',
 *   readonly lastMessage: any,
 *   error: string | null,
 *   send: (message: unknown) => boolean,
 *   close: () => void,
 * }}
 */
export function useWebSocket(path, options = {}) {
  const { state, base } = useRoute('useWebSocket');
  const { enabled = true, protocols = [] } = options;
  const target = path === undefined ? state.requestedPath : withBase(path, base);
  const [status, setStatus] = useState(
    /** @type {'connecting' | 'open' | 'closed'} */ (enabled ? 'connecting' : 'closed'),
  );
  const connection = useRef(/** @type {Connection | null} */ (null));
  const { error, read, forget, onOpen, onMessage, onMissed, onClose } = useReceived(options);
  const asks = options.onMissed !== undefined;
  const onStatus = useLatest((/** @type {'connecting' | 'open' | 'closed'} */ now) => {
    setStatus(now);
    if (now === 'open') onOpen();
  });
  const wanted = JSON.stringify(protocols);
  const key = enabled ? `${wanted} ${asks} ${target}` : '';
  useConnection(connection, key, {
    open: () => {
      const url = new URL(target, location.href);
      return new WebSocket(asks ? askingForMissed(url) : url, protocols);
    },
    onStatus,
    onMessage,
    onMissed: asks ? onMissed : undefined,
    onClose,
    forget,
  });
  const send = useCallback(
    (/** @type {unknown} */ message) => connection.current?.send(message) ?? false,
    [],
  );
  const close = useCallback(() => connection.current?.close(), []);
  return {
    status,
    error,
    get lastMessage() {
      return read();
    },
    send,
    close,
  };
}

/**
 * Keep a connection for as long as `key` is the same, and the component is shown.
 *
 * @param {{ current: Connection | null }} connection
 * @param {string} key '' for no connection
 * @param {ConnectionOptions & { forget: () => void }} options
 */
function useConnection(connection, key, { open, forget, ...listeners }) {
  const leaving = useRef(/** @type {Leaving | null} */ (null));
  const opens = useLatest(open);
  const { onStatus, onMessage, onMissed, onClose } = listeners;
  useEffect(() => {
    const before = leaving.current;
    leaving.current = null;
    clearTimeout(before?.timer);
    // An effect that begins anew with the same values is that of new code: the socket stays.
    const reused = before?.key === key ? before.opened : null;
    if (reused === null) before?.end();
    if (key === '') return undefined;
    const opened =
      reused ??
      new Connection({
        open: () => /** @type {WebSocket} */ (opens()),
        onStatus,
        onMessage,
        onMissed,
        onClose,
      });
    connection.current = opened;
    const end = () => {
      if (connection.current === opened) connection.current = null;
      opened.close();
      forget();
    };
    return () => {
      leaving.current = { key, opened, end, timer: setTimeout(end) };
    };
  }, [connection, key, opens, onStatus, onMessage, onMissed, onClose, forget]);
}

/**
 * Return what has come over a connection, and what is called when more comes: it tells the
 * handlers of `options`. A component that never calls `read` is not rendered for messages.
 *
 * @param {WebSocketOptions} options
 */
function useReceived(options) {
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [last, setLast] = useState(/** @type {any} */ (null));
  const isRead = useRef(false);
  const onOpen = useLatest(() => {
    setError(null);
    options.onOpen?.();
  });
  const onMessage = useLatest((/** @type {unknown} */ message) => {
    if (isRead.current) setLast(() => message);
    options.onMessage?.(message);
  });
  const onMissed = useLatest((/** @type {{ count: number | null }} */ missed) => {
    options.onMissed?.(missed);
  });
  const onClose = useLatest((/** @type {CloseEvent} */ event) => {
    setError(lossOf(event));
    options.onClose?.(event);
  });
  const forget = useCallback(() => {
    setError(null);
    setLast(null);
  }, []);
  const read = () => {
    isRead.current = true;
    return last;
  };
  return { error, read, forget, onOpen, onMessage, onMissed, onClose };
}

/**
 * @typedef {object} ConnectionOptions
 * @property {() => WebSocket} open
 * @property {(status: 'connecting' | 'open' | 'closed') => void} onStatus
 * @property {(message: unknown) => void} onMessage
 * @property {(missed: { count: number | null }) => void} [onMissed]
 * @property {(event: CloseEvent) => void} onClose
 */

/** One WebSocket after the other, until `close`. */
export class Connection {
  #options;
  #attempts = 0;
  #opened = 0;
  #closed = false;
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {ConnectionOptions} options */
  constructor(options) {
    this.#options = options;
    this.#connect();
  }

  /**
   * @param {unknown} message
   * @returns {boolean} whether it was sent
   */
  send(message) {
    if (this.#socket?.readyState !== 1) return false;
    this.#socket.send(/** @type {any} */ (encodeFrame(message)));
    return true;
  }

  /** End it for good. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#release();
    this.#options.onStatus('closed');
  }

  #connect() {
    const socket = this.#options.open();
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', this.#begun);
    socket.addEventListener('message', this.#received);
    socket.addEventListener('close', this.#lost);
    this.#socket = socket;
    this.#options.onStatus('connecting');
  }

  #release() {
    const socket = this.#socket;
    if (socket === null) return;
    this.#socket = null;
    socket.removeEventListener('open', this.#begun);
    socket.removeEventListener('message', this.#received);
    socket.removeEventListener('close', this.#lost);
    socket.close(1000);
  }

  #begun = () => {
    this.#attempts = 0;
    this.#options.onStatus('open');
    if (this.#opened > 0) this.#options.onMissed?.({ count: null });
    this.#opened += 1;
  };

  #received = (/** @type {MessageEvent} */ event) => {
    const { onMessage, onMissed } = this.#options;
    const missed = onMissed && missedIn(event.data);
    if (missed) onMissed(missed);
    else onMessage(decodeFrame(event.data));
  };

  #lost = (/** @type {CloseEvent} */ event) => {
    this.#release();
    this.#options.onClose(event);
    if (this.#closed) return;
    const pause = pauseBefore(event.code, this.#attempts, Math.random());
    if (pause === null) {
      this.#closed = true;
      this.#options.onStatus('closed');
      return;
    }
    this.#attempts += 1;
    this.#options.onStatus('connecting');
    this.#timer = setTimeout(() => this.#connect(), pause);
  };
}
