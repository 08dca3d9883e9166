/** What a bundler throws, as problems with a place in the project's files. */

import fs from 'node:fs';
import path from 'node:path';

/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./plan.js').Problem} Problem */

// eslint-disable-next-line no-control-regex -- colours
const COLOURS = /\x1b\[[0-9;]*m/g;
const CODE = /^\[([A-Z_]+|plugin [^\]]*)\]\s*/;

/** Lines of a message that draw the place, which `frame` does better. */
const DRAWING = /^\s*(\d+\s*)?[│╭╰─·┬|]|^\s*at .*:\d+:\d+/;

/**
 * Return the problems that an error of a build stands for, by place, each once.
 *
 * @param {unknown} error
 * @param {Plan} plan
 * @returns {Problem[]}
 */
export function problemsOf(error, plan) {
  const all = flatten(error).map((one) => problemOf(one, plan));
  const unique = new Map(all.map((problem) => [JSON.stringify(problem), problem]));
  return [...unique.values()].sort(
    (one, other) =>
      one.path.localeCompare(other.path) || one.line - other.line || one.column - other.column,
  );
}

/**
 * @param {any} error
 * @returns {any[]}
 */
function flatten(error) {
  const inner = Array.isArray(error?.errors) && error.errors.length > 0 ? error.errors : null;
  return inner === null ? [error] : inner.flatMap(flatten);
}

/**
 * @param {any} error
 * @param {Plan} plan
 * @returns {Problem}
 */
function problemOf(error, plan) {
  const file = fileOf(error);
  const shown = file === '' ? '' : path.relative(plan.root, file).split(path.sep).join('/');
  const { line = 0, column = -1 } = error?.loc ?? {};
  const text = textOf(file, shown, plan);
  const known = line > 0 && text !== null;
  return {
    path: shown,
    line: known ? line : 0,
    column: known ? column + 1 : 0,
    message: messageOf(error, plan),
    frame: known ? frameOf(text, line, column) : '',
  };
}

/** @param {any} error */
function fileOf(error) {
  const id = String(error?.loc?.file ?? error?.id ?? '');
  return id.startsWith('\0') || id.startsWith('virtual:') ? '' : id.replace(/[?#].*$/, '');
}

/**
 * Return the text that the bundler has read.
 *
 * @param {string} file
 * @param {string} source
 * @param {Plan} plan
 */
function textOf(file, source, plan) {
  const read = file.endsWith('.fxl') ? path.join(plan.staging, 'ui', `${source}.tsx`) : file;
  try {
    return fs.readFileSync(read, 'utf8');
  } catch {
    return null; // a module that is no file
  }
}

/**
 * @param {any} error
 * @param {Plan} plan
 */
function messageOf(error, plan) {
  const text = String(error?.message ?? error).replace(COLOURS, '');
  const help = text.match(/Help\S*:\s*(.*)/)?.[1];
  const lines = text.split('\n').filter((line) => !DRAWING.test(line) && line.trim() !== '');
  const told = lines
    .join(' ')
    .replace(CODE, '')
    .replace(/^Error: /, '')
    .trim();
  const missing = told.match(/Could not resolve ['"]([^'"]+)['"]/)?.[1];
  const remedy = missing === undefined ? help : remedyFor(missing);
  const message = told.replaceAll(`${plan.root}/`, '');
  return remedy === undefined ? message : `${message.replace(/\.$/, '')}. ${remedy}.`;
}

/** @param {string} missing what could not be imported */
function remedyFor(missing) {
  if (/^[./]|^@\//.test(missing)) return 'Check the path';
  const name = missing.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? missing;
  return `Run 'npm install ${name}'`;
}

/**
 * Return the line of a problem with its neighbours, and a mark below the place.
 *
 * @param {string} text
 * @param {number} line from 1
 * @param {number} column from 0
 */
function frameOf(text, line, column) {
  const lines = text.split(/\r?\n/);
  const first = Math.max(1, line - 1);
  const shown = lines.slice(first - 1, line + 1);
  const width = String(line + 1).length;
  return shown
    .flatMap((content, index) => {
      const number = first + index;
      const numbered = `${String(number).padStart(width)} | ${content}`;
      const mark = `${' '.repeat(width)} | ${' '.repeat(Math.max(0, column))}^`;
      return number === line ? [numbered, mark] : [numbered];
    })
    .join('\n');
}
