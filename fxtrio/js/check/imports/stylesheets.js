/** The stylesheets that a project imports, and what is wrong in them before any bundler reads them. */

import fs from 'node:fs';
import path from 'node:path';

import { conflictsIn } from '../conflicts.js';
import { walk } from '../tree.js';
import { IMPORT, moduleFile } from './specifiers.js';

/** @typedef {import('../tree.js').Node} Node */
/** @typedef {import('../conflicts.js').Conflict} Conflict */

const STYLE = /\.(?:css|scss|sass|less|styl|pcss|postcss)$/;
const CSS = /\.css$/;
const STYLE_IMPORT = /@import (?:url\()?["']([^"'\n]+)["']/g;

/** Comments, strings, URLs without quotes, what is escaped, and braces. */
const TOKEN =
  /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|url\([^)"'\n]*|\\[^]|[{}]/g;

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
 * Return the mistakes in stylesheets and in those that they import: conflicts, and braces that close
 * nothing, which bundlers report at the next rule or at the end of the file.
 *
 * @param {string} root
 * @param {Iterable<string>} sources
 * @returns {(Conflict & { path: string, text: string })[]}
 */
export function styleMistakes(root, sources) {
  const waiting = new Set(sources);
  const found = [];
  for (const source of waiting) {
    const text = fs.readFileSync(path.join(root, source), 'utf8');
    const specifiers = [...text.matchAll(STYLE_IMPORT)].map(([, one]) =>
      /^[\w-]/.test(one) ? `./${one}` : one,
    );
    for (const one of ownStyles(specifiers, root, source)) waiting.add(one);
    const conflicts = conflictsIn(text);
    const wrong = conflicts.length > 0 || !CSS.test(source) ? conflicts : strayBraces(text);
    found.push(...wrong.map((one) => ({ ...one, path: source, text })));
  }
  return found;
}

/**
 * @param {string} text of a stylesheet
 * @returns {Conflict[]}
 */
function strayBraces(text) {
  const found = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{') depth += 1;
    else if (token === '}' && depth > 0) depth -= 1;
    else if (token === '}') {
      const message = "'}' closes nothing";
      found.push({ offset: index, message, remedy: "Remove it, or write the '{' that it closes" });
    }
  }
  return found;
}
