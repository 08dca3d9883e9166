/**
 * Answers what `fx lsp` asks about UI halves, with the parser of the bundler: JSON-RPC on stdin
 * and stdout, until stdin ends. `node analyst.js TOOLCHAIN`, started by `fxtrio/lsp/analyst.py`.
 *
 * Requests take `{ root, path, text }` and
 * - `check`, with `python` and `actions`: returns the problems of one file, as `fx check` has them;
 * - `uses`: returns its uses of keys, actions and links, null when it does not parse;
 * - `wanted`, with `position`: returns what is being written there, null when that is not known.
 * Places in answers are a `range`, as editors have them.
 *
 * The notification `changed` with `{ root }` tells that other files of a project are new.
 */

import { loadTools, lookAt, readDeclarations } from '../vite/look.js';
import { encodeMessage, MessageReader } from './messages.js';
import { offsetIn, rangesIn } from './places.js';
import { namesOf, wantedAt } from './unfinished.js';
import { usesOf } from './uses.js';

/** @typedef {import('../vite/tree.js').Node} Node */
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
    remember(file, namesOf(program, tools.analyze));
    const range = rangesIn(file.text);
    return usesOf(program, tools.analyze).map((use) => ({ ...use, range: range(use) }));
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  wanted(file) {
    const { text, position } = file;
    const names = known.get(keyOf(file)) ?? new Map();
    const read = (/** @type {string} */ changed) => parse({ ...file, text: changed });
    const found = wantedAt(read, tools.analyze, text, offsetIn(text, position), names);
    return found && { ...found, range: rangesIn(text)(found) };
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

const reader = new MessageReader();
for await (const data of process.stdin) {
  const messages = reader.feed(data);
  const unwanted = new Set(
    messages.filter(({ method }) => method === '$/cancelRequest').map(({ params }) => params.id),
  );
  for (const message of messages) {
    if (message.method === '$/cancelRequest' || unwanted.has(message.id)) continue;
    const done = answer(message);
    if (message.id !== undefined) process.stdout.write(encodeMessage(done));
  }
}
