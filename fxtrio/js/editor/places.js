/** Places in a text as editors have them: lines and UTF-16 units, from 0. Pure. */

/** @typedef {{ line: number, character: number }} Position */

/**
 * @param {string} text with plain line ends
 * @returns {number[]} where its lines start
 */
function lineStarts(text) {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/**
 * Return the offset of a position; behind the end of a line it is the line's end.
 *
 * @param {string} text
 * @param {Position} position
 * @returns {number}
 */
export function offsetIn(text, { line, character }) {
  const starts = lineStarts(text);
  if (line >= starts.length) return text.length;
  const end = line + 1 < starts.length ? starts[line + 1] - 1 : text.length;
  return Math.min(starts[line] + character, end);
}

/**
 * Return what makes ranges of offsets in a text.
 *
 * @param {string} text
 * @returns {(part: { start: number, end: number }) => { start: Position, end: Position }}
 */
export function rangesIn(text) {
  const starts = lineStarts(text);
  /** @param {number} offset */
  const positionOf = (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (starts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: offset - starts[low] };
  };
  return ({ start, end }) => ({ start: positionOf(start), end: positionOf(end) });
}

/**
 * Return what leads from places in a text to the same ones in another text of the file: null for a
 * place between those where the two are equal.
 *
 * @param {string} text
 * @param {string} other
 * @returns {(offset: number) => number | null}
 */
export function movedTo(text, other) {
  const most = Math.min(text.length, other.length);
  let start = 0;
  while (start < most && text[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end += 1;
  return (offset) => {
    if (offset < start || text === other) return offset;
    return offset > text.length - end ? offset + other.length - text.length : null;
  };
}
