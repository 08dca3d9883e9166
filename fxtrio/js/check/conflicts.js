/** Marks that a merge has left in a file. Pure. */

/** @typedef {{ offset: number, message: string, remedy: string }} Conflict */

const MARK = /^(?:<{7}(?: .*)?|={7}|>{7}(?: .*)?)$/gm;

/**
 * Return the conflicts that stand in a text. Code may quote one: ask for code that does not parse.
 *
 * @param {string} text
 * @returns {Conflict[]}
 */
export function conflictsIn(text) {
  /** @type {Conflict[]} */
  const found = [];
  /** @type {{ offset: number, ours: string, middle: number } | undefined} */
  let begun;
  for (const { 0: mark, index } of text.replaceAll('\r\n', ' \n').matchAll(MARK)) {
    const name = mark.slice(8).trim();
    if (mark.startsWith('<')) {
      begun = { offset: index, ours: name || 'ours', middle: 0 };
    } else if (begun !== undefined && mark.startsWith('=')) {
      begun.middle = lineOf(text, index);
    } else if (begun !== undefined && begun.middle > 0) {
      found.push({
        offset: begun.offset,
        message:
          `a merge conflict is not resolved: '${begun.ours}' up to line ${begun.middle}, ` +
          `then '${name || 'theirs'}' up to line ${lineOf(text, index)}`,
        remedy: 'Keep one side, or join them, and remove the three marks',
      });
      begun = undefined;
    }
  }
  return found;
}

/**
 * @param {string} text
 * @param {number} offset
 */
function lineOf(text, offset) {
  return text.slice(0, offset).split('\n').length;
}
