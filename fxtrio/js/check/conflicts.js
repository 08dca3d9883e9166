/** Marks that a merge has left in a file, and in the stylesheets that a project imports. */

import fs from 'node:fs';
import path from 'node:path';

import { IMPORT, moduleFile } from './imports/specifiers.js';
import { walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {{ offset: number, message: string, remedy: string }} Conflict */

const MARK = /^(?:<{7}(?: .*)?|={7}|>{7}(?: .*)?)$/gm;
const STYLE = /\.(?:css|scss|sass|less|styl|pcss|postcss)$/;
const STYLE_IMPORT = /@import (?:url\()?["']([^"'\n]+)["']/g;

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

/**
 * Return the stylesheets of the project that a file imports, relative to its folder.
 *
 * @param {Node} program
 * @param {string} root folder of the project
 * @param {string} source of the file
 * @returns {string[]}
 */
export function importedStyles(program, root, source) {
  /** @type {string[]} */
  const specifiers = [];
  walk(program, (node) => {
    if (IMPORT.test(node.type) && typeof node.source?.value === 'string') {
      specifiers.push(node.source.value);
    }
  });
  return ownStyles(specifiers, root, source);
}

/**
 * @param {string[]} specifiers
 * @param {string} root
 * @param {string} source
 */
function ownStyles(specifiers, root, source) {
  const folder = path.dirname(path.join(root, source));
  return specifiers.flatMap((specifier) => {
    const file = STYLE.test(specifier) ? moduleFile(specifier, root, folder) : undefined;
    const relative = file === undefined ? '' : path.relative(root, file).split(path.sep).join('/');
    return relative === '' || /^\.\.\/|(^|\/)node_modules\//.test(relative) ? [] : [relative];
  });
}

/**
 * Return the conflicts in stylesheets and in those that they import.
 *
 * @param {string} root
 * @param {Iterable<string>} sources
 * @returns {(Conflict & { path: string, text: string })[]}
 */
export function styleConflicts(root, sources) {
  const waiting = new Set(sources);
  const found = [];
  for (const source of waiting) {
    const text = fs.readFileSync(path.join(root, source), 'utf8');
    const specifiers = [...text.matchAll(STYLE_IMPORT)].map(([, one]) =>
      /^[\w-]/.test(one) ? `./${one}` : one,
    );
    for (const one of ownStyles(specifiers, root, source)) waiting.add(one);
    found.push(...conflictsIn(text).map((one) => ({ ...one, path: source, text })));
  }
  return found;
}
