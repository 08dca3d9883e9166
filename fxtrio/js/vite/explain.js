/** What the parser's messages about UI code mean, and what to do about them. Pure. */

import { conflictsIn } from '../check/conflicts.js';

/** A closing tag where code may begin. */
const CLOSING = /^<\/\s*([\w$.:-]+\s*)?>/;
/** Vite reads JSX in files of these names alone. */
const MISNAMED = {
  message: 'JSX in a file that ends neither with .jsx nor with .tsx',
  remedy: 'Rename the file so that it ends with .jsx',
};
const NEAR = 200; // characters in which the word before a mistake is looked for
/** By what a message of the parser says. */
const REMEDIES = /** @type {const} */ ([
  [/^Unterminated string/, 'Write the quote that closes it'],
  [
    /^Unterminated regular expression/,
    "Write the '}' before a closing tag, or the '/' that ends the expression",
  ],
  [/^Invalid characters after number/, "Begin a name with a letter, '_' or '$'"],
  [/'return' statement/, 'Move it into a function'],
  [/^Invalid escape sequence/, "Write '\\\\' for a backslash"],
  [/^Cannot assign/, 'Assign to a variable or to a property'],
  [/has already been declared$/, 'Give one of the two another name'],
  [/^Invalid Character/, 'Remove the character, or write it in a string'],
]);
const DID_YOU_MEAN = /\.\s+(?=Did you )/;

/**
 * Return a mistake of syntax in words, without full stops; a merge conflict explains any.
 *
 * @param {string} text
 * @param {number} offset of the mistake
 * @param {string} message of the parser
 * @param {string} [help] of the parser
 * @returns {{ message: string, remedy: string }}
 */
export function explain(text, offset, message, help) {
  const [conflict] = conflictsIn(text);
  if (conflict !== undefined) return { message: conflict.message, remedy: conflict.remedy };
  if (/^Unexpected JSX expression/.test(message)) return MISNAMED;
  const closing = text.slice(offset).match(CLOSING);
  if (closing !== null && /^Adjacent JSX/.test(message)) {
    return {
      message: `broken client code: '</${(closing[1] ?? '').trimEnd()}>' closes nothing`,
      remedy: 'Remove it',
    };
  }
  const [cause, meant] = message.split(DID_YOU_MEAN);
  const remedy =
    hintFor(text, offset) ?? meant ?? help ?? remedyFor(cause) ?? remedyAt(text, offset, cause);
  return { message: `broken client code: ${cause}`, remedy };
}

/**
 * Return what to do about a mistake that the parser's message names alone.
 *
 * @param {string} message
 */
function remedyFor(message) {
  for (const [pattern, remedy] of REMEDIES) {
    if (pattern.test(message)) return remedy;
  }
}

/**
 * Return what to do about the place of a mistake.
 *
 * @param {string} text
 * @param {number} offset of the mistake
 * @param {string} message of the parser
 */
function remedyAt(text, offset, message) {
  const [word] = text.slice(offset).match(/^(?:[\w$]+|\S)/) ?? [];
  const [, unclosed] = message.match(/closing tag for '(.*)'/) ?? [];
  if (unclosed !== undefined) return `Write '</${unclosed}>' before '</${word ?? ''}>'`;
  const [, expected] = message.match(/^Expected (`.*`) but found/) ?? [];
  if (expected !== undefined) {
    return `Write ${expected} ${word === undefined ? 'at the end' : `before '${word}'`}`;
  }
  if (word !== undefined) return `Write what is missing before '${word}', or remove '${word}'`;
  const last = text
    .slice(Math.max(0, offset - NEAR), offset)
    .trimEnd()
    .split(/\s/)
    .at(-1);
  return `Complete the code: something is missing after '${last}'`;
}

/**
 * Return what to do about code of another language, undefined for other mistakes.
 *
 * @param {string} text
 * @param {number} offset of the mistake
 */
function hintFor(text, offset) {
  const around = text.slice(Math.max(0, offset - 2), offset + 2);
  if (/\{[%{]/.test(around)) return 'There are no template tags: write {list.map((item) => …)}';
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  if (/^\s*#/.test(text.slice(start, offset + 1))) {
    return "A comment begins with '//' in the client half";
  }
  const [, name] = text.slice(start, offset).match(/<\w[^<>]*\s([\w-]+)\s*=\s*$/) ?? [];
  return name === undefined ? undefined : `Write ${name}={…} or ${name}="…"`;
}
