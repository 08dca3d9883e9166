'use strict';

/** A line of Python behind which a block begins, and its indent; formatted UI code has none. */
const OPENS =
  /^([ \t]*)(?:(?:async[ \t]+)?(?:def|class|if|elif|for|while|with|except|match)\b.+|(?:else|try|finally|except)\s*|[)\]}](?:[ \t]*->.+)?):\s*(?:#.*)?$/;

/** How far blocks are indented where a page has none yet. */
const USUAL = '    ';

/**
 * Return the indent of the line behind some lines of a page where these end by opening a block
 * of Python: as far as its other blocks. Undefined behind anything else.
 *
 * Editors have one width for a whole file, and in pages it is mostly that of the UI half.
 *
 * @param {readonly string[]} lines
 * @returns {string | undefined}
 */
function indentBehind(lines) {
  const opened = OPENS.exec(lines.at(-1) ?? '');
  return opened === null ? undefined : opened[1] + stepOf(lines);
}

/** @param {readonly string[]} lines */
function stepOf(lines) {
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const outer = OPENS.exec(line)?.[1];
    const inner = /^[ \t]*(?=\S)/.exec(lines[index + 1])?.[0];
    if (outer !== undefined && inner?.startsWith(outer) && inner !== outer) {
      return inner.slice(outer.length);
    }
  }
  return USUAL;
}

module.exports = { indentBehind };
