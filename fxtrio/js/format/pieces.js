/**
 * UI code as pieces that can be formatted one by one, with what has become of those before.
 *
 * Formatting takes 0.1 ms a line, also of lines that stay as they are. An editor asks again and
 * again for one file of which one statement has changed.
 */

/** How often a text is formatted until it stays the same; some comments need two rounds. */
const ROUNDS = 3;

/** Characters of pieces that are remembered. */
const MOST = 8_000_000;

/** Files that are cut. */
const CODE = /\.[jt]sx?$/;

/** A comment that is for what follows it, also behind a blank line. */
const IGNORE = 'prettier-ignore';

/** A line that begins a statement, whatever stands above it. */
const BEGINS = /^(?:import|export|const|let|var|function|async function|class|interface) /;
/** A line with nothing but the beginning of a comment. */
const COMMENT = /^(?:\/\/|\/\*)/;
const COMMENT_END = /\*\/\s*$/;

/**
 * @typedef {import('./reply.js').Prettier} Prettier
 * @typedef {import('./reply.js').Options} Options
 */

/**
 * Format a text until it stays the same.
 *
 * @param {(text: string) => Promise<string>} format
 * @param {string} text
 */
export async function settled(format, text) {
  let before = text;
  for (let round = 0; round < ROUNDS; round += 1) {
    const after = await format(before);
    if (after === before) break;
    before = after;
  }
  return before;
}

/**
 * Cut a text where a blank line stands before a statement of the outermost level, or before the
 * comments right above one. A cut within a template or in brackets leaves a piece that does not
 * parse.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function piecesOf(text) {
  const lines = text.split('\n');
  /** @type {number[]} */
  const cuts = [];
  for (let number = 1; number < lines.length; number += 1) {
    if (lines[number - 1].trim() === '' && begins(lines, number)) cuts.push(number);
  }
  return [0, ...cuts].map((start, index) => lines.slice(start, cuts[index]).join('\n'));
}

/**
 * @param {string[]} lines
 * @param {number} from
 */
function begins(lines, from) {
  let number = from;
  while (number < lines.length && COMMENT.test(lines[number])) {
    if (lines[number].startsWith('/*')) {
      while (number < lines.length && !COMMENT_END.test(lines[number])) number += 1;
    }
    number += 1;
  }
  return number < lines.length && BEGINS.test(lines[number]);
}

/** What has become of pieces, the oldest first. */
export class Pieces {
  constructor() {
    /** @type {Map<string, string>} */
    this.formatted = new Map();
    this.size = 0;
  }

  /**
   * Format a text once, as a whole where its pieces may mean something else.
   *
   * @param {Prettier} prettier
   * @param {string} text
   * @param {Options} options
   * @returns {Promise<string>}
   */
  async format(prettier, text, options) {
    const { filepath, plugins, requirePragma, insertPragma } = options;
    const isPlain =
      !plugins?.length && !requirePragma && !insertPragma && CODE.test(filepath ?? '');
    const pieces = isPlain && !text.includes(IGNORE) ? piecesOf(text) : [];
    if (pieces.length < 2) return prettier.format(text, options);
    const formatted = [];
    try {
      for (const piece of pieces) formatted.push(await this.piece(prettier, piece, options));
    } catch {
      return prettier.format(text, options); // which says where the mistake is, if there is one
    }
    return formatted.filter((piece) => piece !== '').join('\n');
  }

  /**
   * @param {Prettier} prettier
   * @param {string} piece
   * @param {Options} options
   */
  async piece(prettier, piece, options) {
    const key = `${JSON.stringify(options)}\n${piece}`;
    const formatted = this.formatted.get(key) ?? (await prettier.format(piece, options));
    this.forget(key);
    this.formatted.set(key, formatted);
    this.size += key.length + formatted.length;
    for (const oldest of this.formatted.keys()) {
      if (this.size <= MOST) break;
      this.forget(oldest);
    }
    return formatted;
  }

  /** @param {string} key */
  forget(key) {
    const formatted = this.formatted.get(key);
    if (formatted === undefined) return;
    this.formatted.delete(key);
    this.size -= key.length + formatted.length;
  }
}
