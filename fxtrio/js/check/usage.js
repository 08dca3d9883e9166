/** Mistakes in how a UI half uses `fx/client` and the environment. Pure. */

import { similar } from './similar.js';
import { walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {import('./imports/specifiers.js').Mistake} Mistake */

/**
 * What a page has by name; null in files whose page is not known, and where it is not known.
 *
 * @typedef {object} Names
 * @property {string[] | null} actions those of the page
 * @property {string[] | null} [streams] those of the page
 * @property {string[] | null} [shared] actions of modules
 */

/**
 * Return names of actions and streams that the page does not have, links without a target, and
 * variables that no browser has, by place.
 *
 * @param {Node} program
 * @param {Names} names
 * @returns {Mistake[]}
 */
export function usageMistakes(program, names) {
  const locals = importedNames(program);
  /** @type {Mistake[]} */
  const found = [];
  let guarded = false;
  walk(program, (node) => {
    if (node.type === 'JSXOpeningElement') {
      const name = locals.get(node.name.name);
      if (name === 'Form') found.push(...unknownAction(formAction(node), names));
      if (name === 'Link') found.push(...linkMistakes(node));
    } else if (node.type === 'CallExpression') {
      const name = locals.get(node.callee.name);
      const [called, options] = node.arguments;
      const isOwn = !mayNamePage(options);
      if (name === 'useAction' && (isOwn || isShared(called))) {
        found.push(...unknownAction(called, names));
      }
      if (name === 'useStream' && isOwn) found.push(...unknownStream(called, names));
    } else if (node.type === 'UnaryExpression' && node.operator === 'typeof') {
      guarded ||= ['process', 'window', 'document'].includes(node.argument.name);
    }
  });
  if (!guarded) found.push(...environmentMistakes(program));
  return found.sort((one, other) => one.offset - other.offset);
}

/**
 * Return what a file imports from `fx/client`: local name to exported name.
 *
 * @param {Node} program
 * @returns {Map<string, string>}
 */
export function importedNames(program) {
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const node of program.body) {
    if (node.type !== 'ImportDeclaration' || node.source.value !== 'fx/client') continue;
    for (const { local, imported } of node.specifiers) {
      if (imported?.name !== undefined) names.set(local.name, imported.name);
    }
  }
  return names;
}

/**
 * @param {Node} element
 * @param {string} name
 * @returns {Node | undefined}
 */
function attribute({ attributes }, name) {
  return attributes.find((/** @type {Node} */ one) => one.name?.name === name);
}

/** @param {Node} element */
function hasSpread({ attributes }) {
  return attributes.some((/** @type {Node} */ one) => one.type === 'JSXSpreadAttribute');
}

/**
 * Whether a form goes to a page, so that its `action` is a path; true also when only its run tells.
 *
 * @param {Node} element
 */
function mayGet(element) {
  const method = attribute(element, 'method')?.value;
  return method !== undefined && !/^post$/i.test(method?.value ?? '');
}

/**
 * Return the action of a form, undefined when another page's is meant.
 *
 * @param {Node} element
 * @returns {Node | undefined}
 */
function formAction(element) {
  if (attribute(element, 'page') !== undefined || hasSpread(element)) return undefined;
  if (mayGet(element)) return undefined;
  return attribute(element, 'action')?.value ?? undefined;
}

/**
 * Whether options name the page that is meant, or may do so where only a run tells.
 *
 * @param {Node | undefined} options
 */
function mayNamePage(options) {
  if (options === undefined) return false;
  if (options.type !== 'ObjectExpression') return true;
  return options.properties.some(
    (/** @type {Node} */ { type, computed, key }) =>
      type !== 'Property' || computed || (key.name ?? key.value) === 'page',
  );
}

/**
 * Whether an action of a module is named: of no page, whichever is shown.
 *
 * @param {Node | undefined} node
 */
function isShared(node) {
  return node?.type === 'Literal' && typeof node.value === 'string' && node.value.includes('.');
}

/**
 * @param {Node | undefined} node
 * @param {Names} names
 * @returns {Mistake[]}
 */
function unknownAction(node, { actions, shared = null }) {
  const name = textOf(node);
  if (node === undefined || name === undefined) return [];
  return isShared(node) ? unknownShared(node, name, shared) : unknown(node, 'action', actions);
}

/**
 * @param {Node | undefined} node
 * @param {Names} names
 * @returns {Mistake[]}
 */
function unknownStream(node, { streams = null }) {
  return node === undefined ? [] : unknown(node, 'stream', streams);
}

/**
 * @param {Node} node
 * @param {'action' | 'stream'} what
 * @param {string[] | null} known those of the page
 * @returns {Mistake[]}
 */
function unknown(node, what, known) {
  const name = textOf(node);
  if (name === undefined || known === null || known.includes(name)) return [];
  const near = similar(name, known);
  const message = `this page has no ${what} '${name}'`;
  const listed = known.length > 0 ? `It has ${known.join(', ')}` : `Define it with @${what}`;
  const remedy = near === undefined ? listed : `Did you mean '${near}'?`;
  return [{ offset: node.start, message, remedy, certain: true }];
}

/**
 * @param {Node | undefined} node
 * @returns {string | undefined} undefined for what only a run tells
 */
function textOf(node) {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

/**
 * @param {Node} node
 * @param {string} name
 * @param {string[] | null} shared
 * @returns {Mistake[]}
 */
function unknownShared({ start: offset }, name, shared) {
  if (shared === null || shared.includes(name)) return [];
  const near = similar(name, shared);
  const file = `actions/${name.split('.').slice(0, -1).join('/')}.py`;
  const message = `there is no action '${name}' in the folder 'actions'`;
  const remedy =
    near === undefined ? `Define it with @action in ${file}` : `Did you mean '${near}'?`;
  return [{ offset, message, remedy, certain: true }];
}

/**
 * @param {Node} element
 * @returns {Mistake[]}
 */
function linkMistakes(element) {
  if (attribute(element, 'href') !== undefined || hasSpread(element)) return [];
  const to = attribute(element, 'to');
  const remedy = to === undefined ? 'Write <Link href="/path">' : "Write 'href' in place of 'to'";
  const { start: offset } = to ?? element;
  return [{ offset, message: '<Link> has no href', remedy, certain: false }];
}

/**
 * Return uses of `process.env` that end in an error in browsers.
 *
 * @param {Node} program
 * @returns {Mistake[]}
 */
function environmentMistakes(program) {
  /** @type {Mistake[]} */
  const found = [];
  walk(program, (node) => {
    if (node.type !== 'MemberExpression' || node.object.type !== 'MemberExpression') return;
    const { object, property } = node.object;
    if (object.name !== 'process' || property.name !== 'env') return;
    const name = node.property.name;
    if (node.computed || name === 'NODE_ENV') return;
    const message = `browsers have no 'process.env.${name}'`;
    const remedy = 'Return it from the loader; public values are import.meta.env.FX_PUBLIC_…';
    found.push({ offset: node.start, message, remedy, certain: false });
  });
  return found;
}
