/**
 * Answers what `fx lsp` asks about UI halves, with the parser of the bundler: JSON-RPC on stdin
 * and stdout, until stdin ends. `node analyst.js TOOLCHAIN`, started by `fxtrio/tools/lsp/processes/ui_analysis.py`.
 *
 * Requests take `{ root, path, text }` and
 * - `check`, with `python` and `actions`: returns the problems of one file, as `fx check` has them;
 * - `uses`: returns its uses of keys, actions and links, null when it does not parse;
 * - `symbols`: returns what it declares, each with the `whole` range, null when it does not parse;
 * - `wanted`, with `position`: returns what is being written there, null when that is not known.
 * - `closing`, with `position`: returns what closes the tag that was just written, or null;
 * - `linked`, with `position`: returns the ranges of the two names of an element, or null.
 * Places in answers are a `range`, as editors have them.
 *
 * The notification `changed` with `{ root }` tells that other files of a project are new.
 */

import { loadTools, lookAt, readDeclarations } from '../check/checker.js';
import { encodeMessage, MessageReader } from './messages.js';
import { Origins } from './origins.js';
import { offsetIn, rangesIn } from './places.js';
import { symbolsOf } from './symbols.js';
import { closingAt, linkedAt } from './tags.js';
import { namesOf, wantedAt } from './unfinished.js';
import { usesOf } from './uses.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./keys.js').Origin} Origin */
/** @typedef {{ root: string, path: string, text: string }} File */

/** Files whose names are remembered. */
const MOST_FILES = 200;

const tools = await loadTools(process.argv[2]);

/** Names that declaration files make known, by project. @type {Map<string, Set<string>>} */
const declared = new Map();

/** Origins of names when a file was last whole. @type {Map<string, Map<string, Origin>>} */
const known = new Map();

/**
 * @param {File} file
 * @returns {Node | null}
 */
function parse({ path, text }) {
  const { errors, program } = tools.parse(path, text, { lang: 'tsx', range: true });
  return errors.length > 0 ? null : /** @type {any} */ (program);
}

/** @type {Record<string, (file: any) => unknown>} */
const ANSWERS = {
  /** @param {File & { python: string[], actions: string[] | null }} file */
  check(file) {
    const { root } = file;
    const names = declared.get(root) ?? readDeclarations(tools, root);
    declared.set(root, names);
    return lookAt(tools, root, names, file).problems;
  },

  /** @param {File} file */
  uses(file) {
    const program = parse(file);
    if (program === null) return null;
    const origins = new Origins(program, tools.analyze);
    remember(file, namesOf(origins));
    const range = rangesIn(file.text);
    return usesOf(program, origins).map((use) => ({ ...use, range: range(use) }));
  },

  /** @param {File} file */
  symbols(file) {
    const program = parse(file);
    const range = rangesIn(file.text);
    return (
      program &&
      symbolsOf(program).map(({ name, kind, exported, whole, start, end }) => ({
        ...{ name, kind, exported, range: range({ start, end }), whole: range(whole) },
      }))
    );
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  wanted(file) {
    const { text, position } = file;
    const names = known.get(keyOf(file)) ?? new Map();
    const read = (/** @type {string} */ changed) => parse({ ...file, text: changed });
    const found = wantedAt(read, tools.analyze, text, offsetIn(text, position), names);
    return found && { ...found, range: rangesIn(text)(found) };
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  closing(file) {
    const read = (/** @type {string} */ changed) => parse({ ...file, text: changed });
    return closingAt(read, file.text, offsetIn(file.text, file.position));
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  linked(file) {
    const found = linkedAt(parse(file), offsetIn(file.text, file.position));
    return found && found.map(rangesIn(file.text));
  },

  /** @param {{ root: string }} project */
  changed({ root }) {
    declared.delete(root);
  },
};

/** @param {File} file */
function keyOf({ root, path }) {
  return `${root}\n${path}`;
}

/**
 * @param {File} file
 * @param {Map<string, Origin>} names
 */
function remember(file, names) {
  known.delete(keyOf(file));
  known.set(keyOf(file), names);
  for (const oldest of known.keys()) {
    if (known.size <= MOST_FILES) break;
    known.delete(oldest);
  }
}

/**
 * @param {{ id?: number, method: string, params: any }} message
 * @returns {object} its answer
 */
function answer({ id, method, params }) {
  try {
    return { id, result: ANSWERS[method](params) ?? null };
  } catch (error) {
    return { id, error: { code: -32603, message: String(/** @type {any} */ (error)?.stack) } };
  }
}

/** What was asked and is not answered yet. @type {{ id?: number, method: string, params: any }[]} */
const asked = [];

/** Take the next question: somebody waits for all of them but the checks. */
function next() {
  const urgent = asked.findIndex(({ method }) => method !== 'check');
  const [message] = asked.splice(Math.max(urgent, 0), 1);
  return message;
}

/** Answer a question, and see what has come in meanwhile before the one after it. */
function work() {
  if (asked.length === 0) return;
  const message = next();
  const done = answer(message);
  if (message.id !== undefined) process.stdout.write(encodeMessage(done));
  if (asked.length > 0) setImmediate(work);
}

const reader = new MessageReader();
process.stdin.on('data', (data) => {
  const isIdle = asked.length === 0;
  for (const message of reader.feed(/** @type {Buffer} */ (data))) {
    const unwanted = message.method === '$/cancelRequest' ? message.params.id : undefined;
    const index = asked.findIndex(({ id }) => id !== undefined && id === unwanted);
    if (index >= 0) asked.splice(index, 1);
    else if (unwanted === undefined) asked.push(message);
  }
  if (isIdle) setImmediate(work);
});
