/** Places in texts, as people see them. */

/**
 * Return the line and the column of an offset, from 1, with the lines around it.
 *
 * @param {string} text
 * @param {number} offset
 */
export function placeIn(text, offset) {
  const before = text.slice(0, offset).split('\n');
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { line, column, frame: frameOf(text, line, column) };
}

/**
 * Return the lines around a place, numbered, with a mark below the column.
 *
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
export function frameOf(text, line, column) {
  const lines = text.split('\n');
  const frame = [];
  for (
    let number = Math.max(1, line - 2);
    number <= Math.min(lines.length, line + 2);
    number += 1
  ) {
    frame.push(`${String(number).padStart(4)} | ${lines[number - 1]}`);
    if (number === line) frame.push(`     | ${' '.repeat(column - 1)}^`);
  }
  return frame.join('\n');
}
