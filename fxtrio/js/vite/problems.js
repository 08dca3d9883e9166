/** What a bundler throws, as problems with a place in the project's files. */

import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { explain } from './explain.js';
import { missingExport } from './exports.js';
import { isPageFile } from './page-file.js';
import { packageRemedy } from '../check/imports/specifiers.js';

/** @typedef {import('./exports.js').Parse} Parse */
/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./plan.js').Problem} Problem */

const CODE = /^\[[A-Za-z_][^\]]*\]:?\s*/;

/** Lines of a message that draw the place, which `frame` does better. */
const DRAWING = /^\s*(\d+\s*)?[│╭╰─·┬|]|^\s*at .*:\d+:\d+/;

/** The place that such a drawing names. */
const DRAWN_PLACE = /╭─\[ (.+):(\d+):(\d+) \]/;

const UNRESOLVED =
  /(?:Could not resolve|failed to resolve import) ['"]([^'"]+)['"](?: (?:in|from) "?([^"\n]+?)"?\.?$)?/m;

/** What bundlers say of a JSON file that they cannot read: path, cause, line and column from 1. */
const BROKEN_JSON = [
  /JSONError \{ path: "([^"]+)", message: "([^"]+?)(?: at line \d+ column \d+)?", line: (\d+), column: (\d+) \}/,
  /Failed to load tsconfig '([^']+)': (.+?) at line (\d+) column (\d+)/,
];

const REMEDY_OF_JSON = 'Look for a comma, colon or quote that is missing here or before it.';

/** What Vite puts in front of what a configuration file throws; it may do so repeatedly. */
const POSTCSS_CONFIG = 'Failed to load PostCSS config';

/** The line of such a file in a stack. */
const IN_POSTCSS_CONFIG = /file:\/\/([^\s?]+\/postcss\.config\.\w+)(?:\?[^\s:]*)?:(\d+):(\d+)/;

/**
 * Where the files of a project are, and what is made of its page files.
 *
 * @typedef {Pick<Plan, 'root' | 'staging'>} Folders
 */

/**
 * An error that a plug-in of ours throws: about an import of `importer`.
 *
 * @typedef {Error & { importer?: string, specifier?: string }} ImportError
 */

/**
 * Return the problems that an error of a build stands for, by place, each once.
 *
 * @param {unknown} error
 * @param {Plan} plan
 * @param {Parse} parse
 * @returns {Problem[]}
 */
export function problemsOf(error, plan, parse) {
  const all = flatten(error).map((one) => problemOf(one, plan, parse));
  const unique = new Map(all.map((problem) => [JSON.stringify(problem), problem]));
  return [...unique.values()].sort(
    (one, other) =>
      one.path.localeCompare(other.path) || one.line - other.line || one.column - other.column,
  );
}

/**
 * @param {any} error
 * @returns {any[]} what a bundler's error stands for
 */
export function flatten(error) {
  const inner = Array.isArray(error?.errors) && error.errors.length > 0 ? error.errors : null;
  return inner === null ? [error] : inner.flatMap(flatten);
}

/**
 * @param {any} error
 * @param {Plan} plan
 * @param {Parse} parse
 * @returns {Problem}
 */
function problemOf(error, plan, parse) {
  const raw = textIn(error);
  const broken = configurationProblem(raw, plan);
  if (broken !== null) return broken;
  const message = missingExport(error, plan, parse) ?? messageOf(raw, plan);
  const problem = { message, path: '', line: 0, column: 0 };
  const place = placeOf(error, raw, plan);
  const text = place === null ? null : textOf(place.path, plan);
  if (place === null || text === null) return { ...problem, frame: String(error?.frame ?? '') };
  const found = place.specifier === undefined ? place : find(text, place.specifier);
  if (found.line === 0) return { ...problem, path: place.path, frame: '' };
  const line = text.split(/\r?\n/)[found.line - 1] ?? '';
  const isSyntax = raw.includes('[PARSE_ERROR]');
  return {
    ...problem,
    message: isSyntax
      ? sentences(explain(text, offsetOf(text, found), ...split(message)))
      : message,
    path: place.path,
    line: found.line,
    column: [...line.slice(0, found.column)].length + 1, // UTF-16 units to characters
    frame: frameOf(text, found.line, found.column),
  };
}

/**
 * Return an error for people in the place of one of the bundler that is about its configuration:
 * with its place, and without a stack, in which only the bundler's own code is.
 *
 * @param {unknown} error
 * @param {Folders} folders
 */
export function explainedConfiguration(error, folders) {
  const found = configurationProblem(textIn(error), folders);
  if (found === null) return error;
  const { path, line, column, message } = found;
  const explained = new Error(`${path}${line > 0 ? `:${line}:${column}` : ''}: ${message}`);
  explained.stack = `Error: ${explained.message}`;
  return explained;
}

/**
 * @param {any} error
 * @returns {string} its message without colours
 */
function textIn(error) {
  return stripVTControlCharacters(String(error?.message ?? error));
}

/**
 * Return the problem of a file that configures the bundler, which reports it once for each module.
 *
 * @param {string} raw
 * @param {Folders} folders
 */
function configurationProblem(raw, folders) {
  return brokenJson(raw, folders) ?? brokenPostcss(raw, folders);
}

/**
 * @param {string} raw
 * @param {Folders} plan
 * @returns {Problem | null}
 */
function brokenPostcss(raw, plan) {
  const prefix = raw.lastIndexOf(POSTCSS_CONFIG);
  if (prefix === -1) return null;
  const [cause, missing] = postcssCause(raw.slice(prefix + POSTCSS_CONFIG.length));
  const [, file, line, column] = raw.match(IN_POSTCSS_CONFIG) ?? [];
  const source = file === undefined ? postcssFile(plan) : relativePath(file, plan);
  const remedy =
    missing === undefined ? `Run 'node ${source}' to see it alone.` : remedyFor(missing);
  const problem = {
    message: `the configuration of PostCSS fails: ${cause}. ${remedy}`,
    path: source,
  };
  const place = { line: Number(line ?? 0), column: Number(column ?? 0) };
  const text = textOf(source, plan);
  if (place.line === 0 || text === null) return { ...problem, line: 0, column: 0, frame: '' };
  return { ...problem, ...place, frame: frameOf(text, place.line, place.column - 1) };
}

/** @param {Folders} plan */
function postcssFile({ root }) {
  const names = fs.readdirSync(root).filter((name) => /^postcss\.config\.\w+$/.test(name));
  return names.sort()[0] ?? 'package.json';
}

/**
 * @param {string} raw
 * @param {Folders} plan
 * @returns {Problem | null}
 */
function brokenJson(raw, plan) {
  for (const form of BROKEN_JSON) {
    const found = raw.match(form);
    if (found === null) continue;
    const [, file, cause, line, column] = found;
    const source = relativePath(file, plan);
    const message = `it cannot be read as JSON: ${cause}. ${REMEDY_OF_JSON}`;
    const place = { line: Number(line), column: Math.max(1, Number(column)) };
    const text = textOf(source, plan);
    const frame = text === null ? '' : frameOf(text, place.line, place.column - 1);
    return { message, path: source, ...place, frame };
  }
  return null;
}

/**
 * Return a message without its last sentence, and that.
 *
 * @param {string} message
 * @returns {[string, string | undefined]}
 */
function split(message) {
  const [cause, help] = message.replace(/\.$/, '').split(/\. (?!.*\. )/);
  return [cause, help];
}

/** @param {{ message: string, remedy: string }} wording */
function sentences({ message, remedy }) {
  return `${message}. ${remedy}${remedy.endsWith('?') ? '' : '.'}`;
}

/**
 * @param {string} text
 * @param {{ line: number, column: number }} place line from 1, column from 0
 */
function offsetOf(text, { line, column }) {
  const before = text.split('\n').slice(0, line - 1);
  return before.join('\n').length + (line > 1 ? 1 : 0) + column;
}

/**
 * Return the file, and the line (from 1) and column (from 0) or the import that is meant.
 *
 * @param {any} error
 * @param {string} raw
 * @param {Plan} plan
 * @returns {{ path: string, line: number, column: number, specifier?: string } | null}
 */
function placeOf(error, raw, plan) {
  const [, drawnFile, drawnLine, drawnColumn] = raw.match(DRAWN_PLACE) ?? [];
  const [, specifier, importer] = raw.match(UNRESOLVED) ?? [];
  const id = error?.loc?.file ?? error?.id ?? error?.importer ?? error?.file;
  const file = id ?? drawnFile ?? importer;
  if (typeof file !== 'string' || /^(\0|virtual:)/.test(file)) return null;
  const path = relativePath(file, plan);
  const { line = Number(drawnLine ?? 0), column = Number(drawnColumn ?? 1) - 1 } = error?.loc ?? {};
  if (line > 0) return { path, line, column };
  return { path, line: 0, column: 0, specifier: error?.specifier ?? specifier };
}

/**
 * @param {string} file absolute, or relative to the project
 * @param {Folders} plan
 */
function relativePath(file, plan) {
  const absolute = path.resolve(plan.root, file.split(/[?#]/, 1)[0]);
  return path.relative(plan.root, absolute).split(path.sep).join('/');
}

/**
 * Return the text that the bundler has read.
 *
 * @param {string} source
 * @param {Folders} plan
 */
function textOf(source, plan) {
  const staged = path.join(plan.staging, 'ui', `${source}.tsx`);
  try {
    return fs.readFileSync(isPageFile(source) ? staged : path.join(plan.root, source), 'utf8');
  } catch {
    return null; // a module that is no file
  }
}

/**
 * Return where a specifier first stands between quotes.
 *
 * @param {string} text
 * @param {string} specifier
 */
function find(text, specifier) {
  const at = ["'", '"', '`'].map((quote) => text.indexOf(`${quote}${specifier}${quote}`));
  const first = Math.min(...at.filter((index) => index !== -1));
  if (first === Infinity) return { line: 0, column: 0 };
  const before = text.slice(0, first).split('\n');
  return { line: before.length, column: before[before.length - 1].length };
}

/**
 * @param {string} raw
 * @param {Plan} plan
 */
function messageOf(raw, plan) {
  const missing = raw.match(UNRESOLVED)?.[1];
  if (missing !== undefined) return `'${missing}' cannot be found. ${remedyFor(missing)}`;
  const help = raw.match(/Help\S*:\s*(.*)/)?.[1];
  const lines = raw.split('\n').filter((line) => !DRAWING.test(line) && line.trim() !== '');
  const printed = lines
    .join(' ')
    .replace(/ Stack backtrace: .*/, '')
    .replace(CODE, '')
    .replace(/^Error: /, '')
    .trim();
  const message = printed.replaceAll(`${plan.root}/`, '');
  return help === undefined ? message : `${message.replace(/\.$/, '')}. ${help}.`;
}

/**
 * @param {string} text where was looked, the name of an error in brackets, its message and stack
 * @returns {[string, string | undefined]} what is wrong, and the package that is missing
 */
function postcssCause(text) {
  const end = text.startsWith(' (') ? '): ' : ': ';
  const [line] = text.slice(text.indexOf(end) + end.length).split('\n', 1);
  const cause = line.replace(/^\[(\w+)\] /, '$1: ').replace(/\.$/, '');
  return [cause, /Cannot find (?:module|package) '([^']+)'/.exec(line)?.[1]];
}

/** @param {string} missing what could not be imported */
function remedyFor(missing) {
  const remedy = /^[./]|^@\//.test(missing) ? 'Check the path' : packageRemedy(missing);
  return remedy.endsWith('?') ? remedy : `${remedy}.`;
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
  const excerpt = lines.slice(first - 1, line + 1);
  const width = String(line + 1).length;
  return excerpt
    .flatMap((content, index) => {
      const number = first + index;
      const numbered = `${String(number).padStart(width)} | ${content}`;
      const mark = `${' '.repeat(width)} | ${' '.repeat(Math.max(0, column))}^`;
      return number === line ? [numbered, mark] : [numbered];
    })
    .join('\n');
}
