/** The name that somebody may have meant. Pure. */

/**
 * Return the name that is most like `name`, undefined when none is like it.
 *
 * @param {string} name
 * @param {Iterable<string>} known the best first, among those that are equally like it
 */
export function similar(name, known) {
  let best;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const other of known) {
    if (other === name || Math.abs(other.length - name.length) >= least) continue;
    const steps = distance(name.toLowerCase(), other.toLowerCase());
    if (steps < least) [best, least] = [other, steps];
  }
  return best;
}

/**
 * Return how many characters must be added, taken away, changed, or exchanged with their
 * neighbour, to make one text of the other.
 *
 * @param {string} one
 * @param {string} other
 */
function distance(one, other) {
  /** @type {number[][]} */
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= one.length; i += 1) {
    rows[i] = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = rows[i - 1][j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed);
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[one.length][other.length];
}
