/** When a WebSocket that has closed is opened again, and what is said of it. */

import { translated } from '../view/messages.js';

/** Shortest and longest pause between two attempts (ms). */
const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Codes below 4000 with which a server says that trying again is of no use. */
const FINAL = new Set([1000, 1002, 1003, 1007, 1008, 1009, 1010]);

/**
 * Return the pause before the next attempt, or null when there should be none.
 *
 * @param {number} code with which the socket closed
 * @param {number} attempts that have failed in a row
 * @param {number} chance between 0 and 1: spreads the clients of a restarted server
 * @returns {number | null} milliseconds
 */
export function pauseBefore(code, attempts, chance) {
  if (FINAL.has(code) || code >= 4000) return null;
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 10));
  return longest * (0.5 + chance / 2);
}

/**
 * Return why a connection has ended that nobody here has closed; null after a regular end.
 *
 * @param {{ code: number, reason: string }} event
 */
export function lossOf({ code, reason }) {
  if (code === 1000) return null;
  if (reason !== '') return reason;
  const lost = 'The connection was lost.';
  return translated(code === 1006 ? lost : `The server closed the connection (${code}).`);
}

/**
 * Return the URL by which a server is asked to tell of lost messages (docs/reference/client.md).
 *
 * @param {URL} url
 */
export function askingForMissed(url) {
  const asking = new URL(url);
  asking.search += `${asking.search ? '&' : '?'}fx-missed`;
  return asking;
}

/**
 * Return how many messages a server says were lost, `null` if nobody knows; undefined when
 * a frame is an ordinary message.
 *
 * @param {unknown} data
 * @returns {{ count: number | null } | undefined}
 */
export function missedIn(data) {
  if (typeof data !== 'string' || !data.startsWith('{"$missed":')) return undefined;
  return decodeFrame(data).$missed;
}

/**
 * Return what a message holds: the value of a JSON object or array, else as it came.
 *
 * @param {unknown} data
 * @returns {any}
 */
export function decodeFrame(data) {
  if (typeof data !== 'string' || !/^\s*[[{]/.test(data)) return data;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

/**
 * Return a message as a frame: text and binary data as they are, anything else as JSON.
 *
 * @param {unknown} message
 * @returns {string | Blob | BufferSource}
 */
export function encodeFrame(message) {
  if (typeof message === 'string' || message instanceof Blob) return message;
  if (message instanceof ArrayBuffer || ArrayBuffer.isView(message)) {
    return /** @type {BufferSource} */ (message);
  }
  return JSON.stringify(message);
}
