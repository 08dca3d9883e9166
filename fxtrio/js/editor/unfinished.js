/** What is being written at a place, in code that may not be whole yet. Pure. */

import { walk } from '../vite/tree.js';
import { Origins } from './origins.js';
import { usesOf } from './uses.js';

/**
 * @typedef {import('../vite/tree.js').Node} Node
 * @typedef {import('./keys.js').Origin} Origin
 * @typedef {import('./uses.js').Use} Use
 */

/**
 * What may be written at a place, and which part of the text it would replace.
 *
 * @typedef {object} Wanted
 * @property {'key' | 'action' | 'link'} kind
 * @property {Origin} [origin] of what has the key; [] for the properties of the page
 * @property {number} start
 * @property {number} end
 */

/** Stands for the name that is still to be written. */
const BLANK = 'fx__blank';

const CHAIN = /([\w$]+)((?:\s*\??\.\s*[\w$]+|\[[^\]]*\])*)\s*\??\.\s*([\w$]*)$/;
const ACTION = /(?:\buseAction\(\s*|<Form\b[^>]*?\saction=\{?\s*)["']([\w$]*)$/;
const LINK = /(?:\bhref=\{?|\b(?:navigate|prefetch)\(|\bpage[=:]\s*\{?)\s*(["'`])([^"'`{}\s]*)$/;
const ROOTS = new Set(['data', 'layoutData', 'params']);

/**
 * Return what is being written at `offset` of `text`, null where nothing is known.
 *
 * @param {(text: string) => Node | null} parse null for a syntax error
 * @param {typeof import('eslint-scope').analyze} analyze
 * @param {string} text
 * @param {number} offset
 * @param {Map<string, Origin>} known origins of names, from when the file was whole
 * @returns {Wanted | null}
 */
export function wantedAt(parse, analyze, text, offset, known) {
  const before = text.slice(Math.max(0, offset - 2000), offset);
  const written = /[\w$]*$/.exec(before)?.[0].length ?? 0;
  const after = /^[\w$]*/.exec(text.slice(offset))?.[0].length ?? 0;
  const [start, end] = [offset - written, offset + after];
  const quoted = inQuotes(before, offset);
  if (quoted !== null) return quoted;
  const blank = BLANK + text.slice(start, end);
  const program = parse(text.slice(0, start) + blank + text.slice(end));
  const found = program === null ? null : inTree(program, analyze, start, blank);
  return found === null ? inChain(before, known, start, end) : { ...found, start, end };
}

/**
 * @param {string} before
 * @param {number} offset
 * @returns {Wanted | null}
 */
function inQuotes(before, offset) {
  const action = ACTION.exec(before);
  if (action !== null) return { kind: 'action', start: offset - action[1].length, end: offset };
  const link = LINK.exec(before);
  return link === null ? null : { kind: 'link', start: offset - link[2].length, end: offset };
}

/**
 * @param {Node} program
 * @param {typeof import('eslint-scope').analyze} analyze
 * @param {number} start of the blank
 * @param {string} blank
 * @returns {Pick<Wanted, 'kind' | 'origin'> | null}
 */
function inTree(program, analyze, start, blank) {
  const uses = usesOf(program, analyze);
  const use = uses.find((one) => one.start === start && one.origin?.at(-1)?.includes(blank));
  if (use !== undefined) return { kind: 'key', origin: use.origin?.slice(0, -1) };
  return null;
}

/**
 * Return what a chain of names in front of a place stands for, without a tree.
 *
 * @param {string} before
 * @param {Map<string, Origin>} known
 * @param {number} start
 * @param {number} end
 * @returns {Wanted | null}
 */
function inChain(before, known, start, end) {
  const found = CHAIN.exec(before);
  if (found === null) return null;
  const [, name, middle] = found;
  const root = known.get(name) ?? (ROOTS.has(name) ? [name] : null);
  if (root === null) return null;
  const keys = [...middle.matchAll(/([\w$]+)|\[[^\]]*\]/g)].map(([all]) =>
    all.startsWith('[') ? '[]' : all,
  );
  return { kind: 'key', origin: [...root, ...keys], start, end };
}

/**
 * Return the origins of names that have the same one wherever they stand.
 *
 * @param {Node} program
 * @param {typeof import('eslint-scope').analyze} analyze
 * @returns {Map<string, Origin>}
 */
export function namesOf(program, analyze) {
  const origins = new Origins(program, analyze);
  /** @type {Map<string, Origin | null>} */
  const names = new Map();
  walk(program, (node) => {
    if (node.type !== 'Identifier' || !origins.variables.has(node)) return;
    const origin = origins.of(node);
    const other = names.get(node.name);
    const same = other === undefined || other?.join('\n') === origin?.join('\n');
    names.set(node.name, same ? origin : null);
  });
  return new Map([...names].filter((entry) => entry[1] !== null).map(([k, v]) => [k, v ?? []]));
}
