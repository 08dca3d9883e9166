/**
 * Answers what `fx lsp` asks about UI halves, with the parser of the bundler: JSON-RPC on stdin
 * and stdout, until stdin ends. `node analyst.js TOOLCHAIN`, started by `fxtrio/tools/lsp/processes/ui_analysis.py`.
 *
 * Requests take `{ root, path, text }` and
 * - `check`, with `python` and `actions`: returns the problems of one file, as `fx check` has them;
 * - `uses`: returns its uses of keys, actions and links, with `position` those there, with `name`
 *   those of that name; while it does not parse those that it had before, null if it never did;
 * - `symbols`: returns what it declares, each with the `whole` range, null when it does not parse;
 * - `wanted`, with `position`: returns what is being written there, null when that is not known.
 * - `closing`, with `position`: returns what closes the tag that was just written, or null;
 * - `linked`, with `position`: returns the ranges of the two names of an element, or null.
 * Places in answers are a `range`, as editors have them.
 *
 * The notification `changed` with `{ root }` tells that other files of a project are new.
 */

import { loadTools, lookAt } from '../check/checker.js';
import { readDeclarations } from '../check/declarations.js';
import { encodeMessage, MessageReader } from './messages.js';
import { Origins } from './origins.js';
import { movedTo, offsetIn, rangesIn } from './places.js';
import { symbolsOf } from './symbols.js';
import { closingAt, linkedAt } from './tags.js';
import { Trees } from './trees.js';
import { namesOf, wantedAt } from './unfinished.js';
import { usesOf } from './uses.js';

/** @typedef {{ root: string, path: string, text: string }} File */

/** Files whose texts are remembered. */
const MOST_FILES = 200;

const tools = await loadTools(process.argv[2]);

/** Names that declaration files make known, by project. @type {Map<string, Set<string>>} */
const declared = new Map();

/** Texts of files when they were last whole. @type {Map<string, string>} */
const whole = new Map();

const trees = new Trees((text) => {
  const { errors, program } = tools.parse('client.tsx', text, { lang: 'tsx', range: true });
  return errors.length > 0 ? null : /** @type {any} */ (program);
});

/**
 * @param {File} file
 * @returns {import('./trees.js').Tree | null}
 */
function read(file) {
  const tree = trees.of(file.text);
  if (tree === null) return null;
  const key = keyOf(file);
  whole.delete(key);
  whole.set(key, file.text);
  for (const oldest of whole.keys()) {
    if (whole.size <= MOST_FILES) break;
    whole.delete(oldest);
  }
  return tree;
}

/** @type {WeakMap<import('./trees.js').Tree, Origins>} */
const analyzed = new WeakMap();

/** @param {import('./trees.js').Tree} tree */
function originsOf(tree) {
  const known = analyzed.get(tree) ?? new Origins(tree, tools.analyze);
  analyzed.set(tree, known);
  return known;
}

/**
 * Return uses in a file; where it does not parse, those that it had before, at places that are
 * still there. Null where it never did.
 *
 * @param {File & { position?: import('./places.js').Position, name?: string }} file
 * @returns {import('./uses.js').Use[] | null}
 */
function usesIn(file) {
  const { text, position, name } = file;
  const before = read(file) === null ? whole.get(keyOf(file)) : text;
  const tree = before === undefined ? null : trees.of(before);
  if (tree === null || before === undefined) return null;
  const [back, forth] = [movedTo(text, before), movedTo(before, text)];
  const offset = position && back(offsetIn(text, position));
  if (offset === null) return [];
  const nodes = offset === undefined ? tree.nodes : tree.around(offset);
  const wanted = (/** @type {import('./uses.js').Use} */ use) =>
    (offset === undefined || (use.start <= offset && offset <= use.end)) &&
    (name === undefined || (use.name ?? use.origin?.at(-1)) === name);
  return usesOf(originsOf(tree), nodes)
    .filter(wanted)
    .flatMap((use) => {
      const [start, end] = [forth(use.start), forth(use.end)];
      return start === null || end === null ? [] : [{ ...use, start, end }];
    });
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

  /** @param {File & { position?: import('./places.js').Position, name?: string }} file */
  uses(file) {
    const range = rangesIn(file.text);
    return usesIn(file)?.map((use) => ({ ...use, range: range(use) }));
  },

  /** @param {File} file */
  symbols(file) {
    const tree = read(file);
    const range = rangesIn(file.text);
    return (
      tree &&
      symbolsOf(tree.program).map(({ name, kind, exported, whole: all, start, end }) => ({
        ...{ name, kind, exported, range: range({ start, end }), whole: range(all) },
      }))
    );
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  wanted(file) {
    const { text, position } = file;
    const names = () => {
      const tree = trees.of(whole.get(keyOf(file)) ?? '');
      return namesOf(originsOf(/** @type {any} */ (tree)));
    };
    const found = wantedAt(trees, tools.analyze, text, offsetIn(text, position), names);
    return found && { ...found, range: rangesIn(text)(found) };
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  closing(file) {
    return closingAt(trees, file.text, offsetIn(file.text, file.position));
  },

  /** @param {File & { position: import('./places.js').Position }} file */
  linked(file) {
    const found = linkedAt(read(file), offsetIn(file.text, file.position));
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
const queue = [];

/** Take the next question: somebody waits for all of them but the checks. */
function next() {
  const urgent = queue.findIndex(({ method }) => method !== 'check');
  const [message] = queue.splice(Math.max(urgent, 0), 1);
  return message;
}

/** Answer a question, and see what has come in meanwhile before the one after it. */
function work() {
  if (queue.length === 0) return;
  const message = next();
  const done = answer(message);
  if (message.id !== undefined) process.stdout.write(encodeMessage(done));
  if (queue.length > 0) setImmediate(work);
}

const reader = new MessageReader();
process.stdin.on('data', (data) => {
  const isIdle = queue.length === 0;
  for (const message of reader.feed(/** @type {Buffer} */ (data))) {
    const unwanted = message.method === '$/cancelRequest' ? message.params.id : undefined;
    const index = queue.findIndex(({ id }) => id !== undefined && id === unwanted);
    if (index >= 0) queue.splice(index, 1);
    else if (unwanted === undefined) queue.push(message);
  }
  if (isIdle) setImmediate(work);
});
