/**
 * `content` of a configuration of Tailwind 3 that leads to no page file: the styles of all classes
 * that only pages have are left out then, and nothing says so.
 */

import fs from 'node:fs';
import path from 'node:path';

import { walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {{ path: string, text: string, offset: number, message: string, remedy: string }} Found */

const CONFIG = /^tailwind\.config\.[cm]?[jt]s$/;

/**
 * Return what is wrong with the configuration of the project in `root`.
 *
 * @param {import('./names.js').Tools} tools
 * @param {string} root
 * @param {string} pages the pages folder
 * @param {string[]} sources its page files
 * @returns {Found[]}
 */
export function tailwindMistakes(tools, root, pages, sources) {
  const name = fs.readdirSync(root).find((one) => CONFIG.test(one));
  if (name === undefined || sources.length === 0 || findsByItself(root)) return [];
  const text = fs.readFileSync(path.join(root, name), 'utf8');
  const { program, errors } = tools.parse(name, text, { lang: 'ts' });
  const globs = errors.length > 0 ? undefined : contentOf(/** @type {any} */ (program));
  if (globs === undefined || globs.length === 0) return [];
  const patterns = globs.map(({ value }) => value.replace(/^(!?)\.\//, '$1'));
  const matches = tools.matcher(
    patterns.filter((one) => !one.startsWith('!')),
    { ignore: patterns.filter((one) => one.startsWith('!')).map((one) => one.slice(1)) },
  );
  if (sources.some((source) => matches(source))) return [];
  const index = patterns.findIndex((one) => one.startsWith(`${pages}/`));
  const glob = globs[Math.max(index, 0)];
  const message = `no page file is in 'content', so classes of pages have no styles`;
  const remedy = `${index < 0 ? 'Add' : 'Write'} './${pages}/**/*.{fxl,js,jsx,ts,tsx}'`;
  return [{ path: name, text, offset: glob.start, message, remedy }];
}

/**
 * Whether Tailwind looks for classes itself, as it does from its version 4 on.
 *
 * @param {string} root
 */
function findsByItself(root) {
  try {
    const file = path.join(root, 'node_modules', 'tailwindcss', 'package.json');
    return Number.parseInt(JSON.parse(fs.readFileSync(file, 'utf8')).version, 10) > 3;
  } catch {
    return false; // not installed yet
  }
}

/**
 * Return the texts of `content`, which is a list or an object with `files`; undefined when they
 * are not all written there.
 *
 * @param {Node} program
 * @returns {{ value: string, start: number }[] | undefined}
 */
export function contentOf(program) {
  /** @type {Node[]} */
  const found = [];
  walk(program, (node) => {
    if (node.type === 'Property' && nameOf(node.key) === 'content') found.push(node);
  });
  // That of the theme is deeper, and comes later or not at all as a list.
  const lists = found.map(({ value }) => listOf(value)).filter((one) => one !== undefined);
  const [list] = lists.sort((one, other) => one.start - other.start);
  const values = list?.elements.map((/** @type {Node} */ one) => ({
    value: textOf(one),
    start: one?.start,
  }));
  return values?.every((/** @type {any} */ one) => typeof one.value === 'string')
    ? values
    : undefined;
}

/**
 * @param {Node} value
 * @returns {Node | undefined}
 */
function listOf(value) {
  if (value.type === 'ArrayExpression') return value;
  const files = value.properties?.find((/** @type {Node} */ one) => nameOf(one.key) === 'files');
  return files?.value.type === 'ArrayExpression' ? files.value : undefined;
}

/** @param {Node | undefined} key */
function nameOf(key) {
  return key?.name ?? key?.value;
}

/** @param {Node | null} node */
function textOf(node) {
  if (node?.type === 'Literal') return node.value;
  const isPlain = node?.type === 'TemplateLiteral' && node.expressions.length === 0;
  return isPlain ? node.quasis[0].value.cooked : undefined;
}
