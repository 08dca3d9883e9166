/** What React says of a document that is other than what it renders → what differs first. */

/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

const REMEDY =
  'Render the same on both sides: set values that only one side knows (the time, random ' +
  'numbers, window, localStorage) in useEffect, or render them in <ClientOnly>.';

/** A line of React's drawing of the tree: a mark, the depth in spaces, and the text. */
const LINE = /^([+-])(\s+)(\S.*)$/;

/**
 * Return what code of the page has thrown, for the overlay, and the stack in which its place is.
 *
 * @param {unknown} thrown
 * @param {number} id of the question for its place
 * @param {{ componentStack?: string, ownerStack?: string }} [info] of React
 */
export function problemOf(thrown, id, { ownerStack = '', componentStack = '' } = {}) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const stack = [error.stack ?? error.message, ownerStack, componentStack].join('\n');
  const own = mismatchOf(error.message) ?? {
    title: 'An error in the browser',
    message: error.message,
    frame: '',
    trace: stack.trim(),
  };
  return { problem: { ...own, file: '', line: 0, column: 0, id }, stack };
}

/**
 * Return what differs first, for the overlay; null for an error that is no mismatch.
 *
 * @param {string} message
 * @returns {Pick<OverlayProblem, 'title' | 'message' | 'frame' | 'remedy'> | null}
 */
export function mismatchOf(message) {
  if (!/hydrat/i.test(message)) return null;
  const lines = drawingIn(message);
  const first = lines.findIndex((line) => LINE.test(line));
  const title = 'The server and the browser render different content';
  if (first === -1) return { title, message: message.split('\n')[0], frame: '', remedy: REMEDY };
  const [browser, server] = ['+', '-'].map((sign) => {
    const line = lines.slice(first, first + 2).find((one) => one.startsWith(sign));
    return line === undefined ? 'nothing' : line.slice(1).trim();
  });
  const depth = lines[first].match(LINE)?.[2].length ?? 0;
  const where = elementAround(lines.slice(0, first), depth);
  const sentence = `${where}the server has ${server}, and the browser renders ${browser}.`;
  return { title, message: sentence.replace(/^t/, 'T'), frame: lines.join('\n'), remedy: REMEDY };
}

/**
 * Return React's drawing of the tree, which ends what it says; a stack may follow.
 *
 * @param {string} message
 */
function drawingIn(message) {
  const lines = message.split('\n');
  const start = lines.findIndex((line) => /^\s+(\.\.\.$|<\S)/.test(line));
  if (start === -1) return [];
  const rest = lines.slice(start);
  const end = rest.findIndex((line) => line.trim() === '');
  return end === -1 ? rest : rest.slice(0, end);
}

/**
 * Return the element that holds what differs: the last above it that stands further left.
 *
 * @param {string[]} above
 * @param {number} depth in spaces, after the mark
 */
function elementAround(above, depth) {
  for (const line of above.toReversed()) {
    const [, spaces, name] = line.match(/^(\s+)<([\w.:-]+)/) ?? [];
    if (name !== undefined && spaces.length - 1 < depth) return `In <${name}> `;
  }
  return '';
}
