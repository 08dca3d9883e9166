/** What the parser's messages about UI code mean, and what to do about them. Pure. */

import { conflictsIn } from '../check/conflicts.js';

/** A closing tag where code may begin. */
const CLOSING = /^<\/\s*([\w$.:-]+\s*)?>/;
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
  const closing = text.slice(offset).match(CLOSING);
  if (closing !== null && /^Adjacent JSX/.test(message)) {
    return {
      message: `broken client code: '</${(closing[1] ?? '').trimEnd()}>' closes nothing`,
      remedy: 'Remove it',
    };
  }
  const [cause, meant] = message.split(DID_YOU_MEAN);
  const remedy = hintFor(text, offset) ?? meant ?? help ?? 'Correct the client code here';
  return { message: `broken client code: ${cause}`, remedy };
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
