/** What is being written at a place, in code that may not be whole yet. Pure. */

import { Origins } from './origins.js';
import { usesOf } from './uses.js';

/**
 * @typedef {import('../check/tree.js').Node} Node
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

// Only up to 2,000 characters are looked at.
/* eslint-disable regexp/no-super-linear-move */
const CHAIN = /([\w$]+)((?:\s*\??\.\s*[\w$]+|\[[^\]]*\])*)\s*\??\.\s*([\w$]*)$/;
const ACTION = /(?:\buseAction\(\s*|<Form\b[^>]*?\saction=\{?\s*)["']([\w$]*)$/;
// eslint-disable-next-line regexp/no-super-linear-backtracking
const LINK = /(?:\bhref=\{?|\b(?:navigate|prefetch)\(|\bpage[=:]\s*\{?)\s*(["'`])([^"'`{}\s]*)$/;
const ROOTS = new Set(['data', 'layoutData', 'params']);

/**
 * Return what is being written at `offset` of `text`, null where nothing is known.
 *
 * @param {import('./trees.js').Trees} trees
 * @param {typeof import('eslint-scope').analyze} analyze
 * @param {string} text
 * @param {number} offset
 * @param {() => Map<string, Origin>} known returns origins of names, from when the file was whole
 * @returns {Wanted | null}
 */
export function wantedAt(trees, analyze, text, offset, known) {
  const before = text.slice(Math.max(0, offset - 2000), offset);
  const written = /[\w$]*$/.exec(before)?.[0].length ?? 0;
  const after = /^[\w$]*/.exec(text.slice(offset))?.[0].length ?? 0;
  const [start, end] = [offset - written, offset + after];
  const quoted = inQuotes(before, offset);
  if (quoted !== null) return quoted;
  if (!mayBeKey(before.slice(0, before.length - written))) return null;
  const blank = BLANK + text.slice(start, end);
  const tree = trees.of(text.slice(0, start) + blank + text.slice(end));
  const found = tree === null ? null : inTree(tree, analyze, start, blank);
  return found === null ? inChain(before, known(), start, end) : { ...found, start, end };
}

/**
 * Whether a key may follow: of an object, in a pattern or an object, perhaps behind a comment.
 *
 * @param {string} before
 */
function mayBeKey(before) {
  const trimmed = before.trimEnd();
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1);
  return '.{,/'.includes(trimmed.slice(-1)) || line.includes('//');
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
 * @param {import('./trees.js').Tree} tree
 * @param {typeof import('eslint-scope').analyze} analyze
 * @param {number} start of the blank
 * @param {string} blank
 * @returns {Pick<Wanted, 'kind' | 'origin'> | null}
 */
function inTree(tree, analyze, start, blank) {
  const nodes = tree.around(start);
  const node = nodes.find(
    (one) => one.type === 'Identifier' && one.start === start && one.name === blank,
  );
  if (node === undefined) return null;
  const origins = new Origins(tree, analyze);
  const parent = origins.parents.get(node);
  if (parent?.type === 'MemberExpression') return keyWanted(origins.of(parent.object));
  // In a pattern, or in what an action is called with.
  const around = parent === undefined ? undefined : origins.parents.get(parent);
  if (parent?.type !== 'Property' || around === undefined) return null;
  const use = usesOf(origins, nodes).find((one) => one.start === start);
  return keyWanted(use?.origin?.slice(0, -1) ?? null);
}

/**
 * @param {Origin | null} origin
 * @returns {Pick<Wanted, 'kind' | 'origin'> | null}
 */
function keyWanted(origin) {
  return origin === null ? null : { kind: 'key', origin };
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
 * @param {Origins} origins of a file
 * @returns {Map<string, Origin>}
 */
export function namesOf(origins) {
  /** @type {Map<string, Origin | null>} */
  const names = new Map();
  for (const node of origins.variables.keys()) {
    if (node.type !== 'Identifier') continue;
    const origin = origins.of(node);
    const other = names.get(node.name);
    const same = other === undefined || other?.join('\n') === origin?.join('\n');
    names.set(node.name, same ? origin : null);
  }
  return new Map([...names].filter((entry) => entry[1] !== null).map(([k, v]) => [k, v ?? []]));
}
