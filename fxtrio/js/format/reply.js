/**
 * Format UI code with prettier, in the style of its project.
 *
 * `format.js` does it once, `../editor/formatter.js` for an editor, in one process for all.
 */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { settled } from './pieces.js';

const PAGE = '.fxl';
/** As which the bundler reads the UI half of a page. */
const PAGE_AS = '.tsx';
/** What no setting of a project is for. */
const NOBODYS = '.fx-none';
/**
 * @typedef {typeof import('prettier')} Prettier
 * @typedef {{ path: string, text: string }} File
 * @typedef {{ text: string } | { line: number, column: number, message: string }} Answer
 * @typedef {{ home: string, root: string, files: File[], static?: boolean }} Order
 * @typedef {import('prettier').Options} Options
 * @typedef {(prettier: Prettier, text: string, options: Options) => Promise<string>} Format
 */

/**
 * Throw unless the settings for a file are plain JSON: prettier runs others, imports what a text in
 * place of an object names, and imports plug-ins.
 *
 * @param {Prettier} prettier
 * @param {string} file
 */
async function refuseCode(prettier, file) {
  const found = await prettier.resolveConfigFile(file);
  if (found === null || isPlain(found)) return;
  throw new Error(
    `${found}: it may run code, and no code of this project is run here. Write these settings as ` +
      'a JSON object without plug-ins, or let the editor import the project.',
  );
}

/** @param {string} file */
function isPlain(file) {
  try {
    const all = JSON.parse(fs.readFileSync(file, 'utf8'));
    const settings = path.basename(file) === 'package.json' ? all.prettier : all;
    const special = (settings.overrides ?? []).map((/** @type {any} */ one) => one.options);
    return [settings, ...special].every((one) => typeof one === 'object' && !('plugins' in one));
  } catch {
    return false;
  }
}

/**
 * Return the options of the project for a file. A page has those of `.tsx` files, and before them
 * what the project sets for `.fxl` files.
 *
 * @param {Prettier} prettier
 * @param {string} file
 * @returns {Promise<import('prettier').Options>}
 */
async function optionsOf(prettier, file) {
  const resolve = (/** @type {string} */ name) =>
    prettier.resolveConfig(name, { editorconfig: true }).then((found) => found ?? {});
  if (!file.endsWith(PAGE)) return { ...(await resolve(file)), filepath: file };
  const bare = file.slice(0, -PAGE.length);
  const [own, plain, typed] = await Promise.all(
    [file, bare + NOBODYS, bare + PAGE_AS].map(resolve),
  );
  const special = Object.entries(own).filter(([key, value]) => !same(value, plain[key]));
  return { ...typed, ...Object.fromEntries(special), filepath: bare + PAGE_AS };
}

/**
 * @param {unknown} one
 * @param {unknown} other
 */
function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * @param {Prettier} prettier
 * @param {Order} order
 * @param {File} file
 * @param {Format} format
 * @returns {Promise<Answer>}
 */
async function answer(prettier, order, { path: file, text }, format) {
  const ignorePath = path.join(order.root, '.prettierignore');
  const { ignored } = await prettier.getFileInfo(file, { ignorePath, resolveConfig: false });
  if (ignored) return { text };
  if (order.static) await refuseCode(prettier, file);
  // The line ends of a file are a matter of its whole.
  const options = { ...(await optionsOf(prettier, file)), endOfLine: /** @type {const} */ ('lf') };
  try {
    return { text: await settled((before) => format(prettier, before, options), text) };
  } catch (error) {
    return mistake(/** @type {any} */ (error));
  }
}

/**
 * Return where a text is broken. Whatever else goes wrong is thrown on.
 *
 * @param {Error & { loc?: { start?: { line: number, column: number } } }} error
 * @returns {Answer}
 */
function mistake(error) {
  const start = error.loc?.start;
  if (start !== undefined) {
    const message = error.message
      .split('\n', 1)[0]
      .replace(/\(\d+:\d+\)$/, '')
      .trimEnd();
    return { line: start.line, column: start.column, message };
  }
  if (error instanceof RangeError) {
    return { line: 0, column: 0, message: 'it is nested too deeply' };
  }
  if (error.name === 'UndefinedParserError') {
    return { line: 0, column: 0, message: 'prettier does not know this kind of file' };
  }
  throw error;
}

/**
 * Format the files of an order.
 *
 * @param {Order} order
 * @param {Format} [format] how one text is formatted once
 * @returns {Promise<{ files: Answer[] } | { failed: string }>}
 */
export async function reply(
  order,
  format = (prettier, text, options) => prettier.format(text, options),
) {
  try {
    const require = createRequire(path.join(order.home, 'package.json'));
    const loaded = await import(pathToFileURL(require.resolve('prettier')).href);
    /** @type {Prettier} */
    const prettier = loaded.default ?? loaded;
    const files = [];
    await prettier.clearConfigCache?.(); // an editor asks for years
    for (const file of order.files) files.push(await answer(prettier, order, file, format));
    return { files };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
