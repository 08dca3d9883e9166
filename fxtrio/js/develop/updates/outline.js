/**
 * What checks can see of UI code: its text, without the words that change no type. Pure.
 *
 * Two texts with one outline get the same findings from the type checker and from our own checks,
 * so a save that only changes words needs neither. The words are those of JSX text, of comments,
 * and of a few attributes of HTML elements that are text for everybody. A wrong "same" would hide
 * a mistake: whatever is in doubt stays in the outline.
 */

import { createHash } from 'node:crypto';

import { walk } from '../../check/tree.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {{ type: string, value: string, start: number, end: number }} Comment */
/** @typedef {{ start: number, end: number, mark: string }} Span `mark` stands for its text */

/** Attributes of which React's types say `string`, whatever element of HTML they are of. */
const WORDS = new Set(['className', 'id', 'title', 'alt', 'placeholder', 'aria-label']);

/** Comments that a compiler or a linter acts on: types, directives, declared globals. */
const DIRECTIVE = /@|^\s*[#/]|\b(?:globals?|exported|eslint|jsx)/;

/** What our own checks look for in the whole text, with patterns, knowing nothing of JSX. */
const LOOKED_FOR =
  /[<>{}=`]|\b(?:async|class|const|default|export|function|import|let|var|[sS]lots?|DataOf|fx)\b/;

const VISIBLE = /[!-~]/;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/**
 * Return a digest of what checks see of a text that parses; null when its tree cannot be read.
 *
 * @param {string} text
 * @param {{ readonly program: any, comments: readonly Comment[] }} parsed by `parseSync` of Vite
 * @returns {string | null}
 */
export function outlineOf(text, parsed) {
  const { comments } = parsed;
  let program;
  try {
    ({ program } = parsed); // the tree comes as JSON, and is read here
  } catch (error) {
    if (error instanceof RangeError) return null; // nested too deeply
    throw error;
  }
  const pieces = comments.some(({ value }) => DIRECTIVE.test(value))
    ? [text] // it may concern the line below, or what follows
    : piecesOf(text, spansOf(text, program, comments));
  return createHash('sha256').update(JSON.stringify(pieces)).digest('base64');
}

/**
 * @param {string} text
 * @param {Span[]} spans
 */
function piecesOf(text, spans) {
  const pieces = [];
  let last = 0;
  for (const { start, end, mark } of spans) {
    pieces.push(spaced(text.slice(last, start)), mark);
    last = end;
  }
  pieces.push(spaced(text.slice(last)));
  return pieces;
}

/**
 * Return code with its white space as far as it matters: whether a line ends, and whether the
 * next one is indented, by which our own checks find declarations.
 *
 * @param {string} code
 */
function spaced(code) {
  return code.replaceAll(/\s+/g, (space) => {
    if (!LINE_BREAK.test(space)) return ' ';
    return space.endsWith('\n') ? '\n' : '\n ';
  });
}

/**
 * Return the parts of a text whose white space is their own, in order; none is inside another.
 *
 * @param {string} text
 * @param {Node} program
 * @param {readonly Comment[]} comments
 * @returns {Span[]}
 */
function spansOf(text, program, comments) {
  /** @type {Span[]} */
  const spans = [];
  /** @type {Set<string>} */
  const components = new Set();
  /** @type {Set<Node>} */
  const words = new Set();
  /** @type {Node[]} */
  const literals = [];
  walk(program, (node) => {
    if (node.type === 'JSXOpeningElement') {
      const { type, name } = node.name;
      if (type === 'JSXIdentifier' && /^[a-z][a-z\d]*$/.test(name)) {
        for (const { type: kind, name: named, value } of node.attributes) {
          if (kind === 'JSXAttribute' && value?.type === 'Literal' && WORDS.has(named.name)) {
            words.add(value);
          }
        }
      } else components.add(text.slice(node.name.start, node.name.end));
    }
    if (/^(?:Literal|TemplateElement|JSXText)$/.test(node.type)) literals.push(node);
  });
  const isRead = (/** @type {string} */ part) =>
    LOOKED_FOR.test(part) || [...components].some((name) => part.includes(name));
  for (const node of literals) {
    const { type, start, end } = node;
    const part = text.slice(start, end);
    let mark = part;
    if (type === 'JSXText') mark = isRead(part) ? part : textMark(part);
    else if (words.has(node) && !isRead(part)) mark = part[0] + part[0];
    spans.push({ start, end, mark });
  }
  for (const { type, start, end } of comments) {
    const part = text.slice(start, end);
    const mark = type === 'Line' ? '//' : LINE_BREAK.test(part) ? '/*\n*/' : '/**/';
    spans.push({ start, end, mark: isRead(part) ? part : mark });
  }
  return spans.sort((one, other) => one.start - other.start);
}

/**
 * Return what stands for JSX text: TypeScript takes words for a string, and white space with a
 * line break for nothing.
 *
 * @param {string} part
 */
function textMark(part) {
  if (VISIBLE.test(part)) return 'text';
  return /^[ \t\r\n]*$/.test(part) && part.includes('\n') ? '\n' : part;
}
