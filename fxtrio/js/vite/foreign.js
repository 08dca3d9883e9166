/**
 * Imports that cannot work in browsers: modules of Node, for which a bundler gives them an empty
 * object, documents, which it reads as code, and URLs, which are no modules; and names of the
 * project's own modules that there are not, of which a bundler says no place.
 */

import fs from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { isOwnName } from '../check/imports/own-names.js';
import { builtinRemedy } from './builtins.js';
import { documentRemedy } from './documents.js';
import { pageFileOf } from './page-file.js';
import { requestsOf } from './requests.js';

/** @typedef {import('./requests.js').Module} Module */
/** @typedef {{ message: string, remedy: string }} Told */

const NAMES = builtinModules.filter((name) => !name.startsWith('_')).join('|');

/** What may be such an import in a text: few texts are looked at further. */
const MENTIONED = new RegExp(
  `['"](node:[\\w/]+|${NAMES}|[^'"\\n]+\\.mdx?)['"]|(from|import)[\\s(]*['"](/[^/@]|#)`,
);

const NOT_OWN = /^\0|\/(node_modules|\.fx|site-packages|dist-packages)\//;

/** The code of fxtrio: it lies in the project, too, where that contains its Python environment. */
const OURS = fileURLToPath(new URL('..', import.meta.url));

/**
 * Return why an import cannot work, and what to do; undefined for others.
 *
 * @param {string} specifier
 * @param {string} root of the project
 * @param {string} folder of the importing file
 * @param {boolean} later whether it is imported when the code comes to it: that may be meant for
 *   renders alone
 * @returns {Told | undefined}
 */
export function foreignImport(specifier, root, folder, later) {
  const ofNode = later ? undefined : builtinRemedy(specifier, folder);
  if (ofNode !== undefined) {
    const message = `'${specifier}' is a module of Node, which browsers do not have`;
    return { message, remedy: ofNode };
  }
  const ofDocument = documentRemedy(specifier, root);
  if (ofDocument !== undefined) {
    return { message: `'${specifier}' is a document, not code`, remedy: ofDocument };
  }
  if (specifier.startsWith('#') && !isOwnName(specifier, folder)) {
    const remedy = `Add it to "imports" in package.json`;
    return { message: `'${specifier}' cannot be found`, remedy };
  }
  const [plain] = specifier.split(/[?#]/, 1);
  if (!isUrl(plain, root)) return undefined;
  const remedy = `Write it where it is used, such as src="${plain}"; '@/…' imports a file of the project`;
  return { message: `'${specifier}' is a URL, not a module`, remedy };
}

/**
 * Whether an import names what browsers request, such as a file of the public folder.
 *
 * @param {string} specifier
 * @param {string} root
 */
function isUrl(specifier, root) {
  return /^\/[^/@]/.test(specifier) && ![specifier, path.join(root, specifier)].some(fs.existsSync);
}

/**
 * Refuse such imports of the project's own files. Packages may have other ways in browsers.
 *
 * @param {string} root of the project
 * @param {(file: string, text: string, options: { lang: 'ts' | 'tsx' }) => { module: Module }} parse
 * @returns {import('vite').Plugin}
 */
export function foreignPlugin(root, parse) {
  return {
    name: 'fx:foreign',
    enforce: 'pre',
    transform: {
      order: 'pre',
      filter: { id: { include: /\.([cm]?[jt]s|[jt]sx|fxl)$/, exclude: NOT_OWN }, code: MENTIONED },
      handler(code, id) {
        if (!id.startsWith(`${root}/`) || id.startsWith(OURS)) return null;
        const lang = /\.[cm]?ts$/.test(id) ? 'ts' : 'tsx';
        const { module } = parse(id, code, { lang });
        for (const { value, start, later } of requestsOf(module, code)) {
          const rejection = foreignImport(value, root, path.dirname(id), later);
          if (rejection === undefined) continue;
          throw wrongAt(pageFileOf(id), code, start, rejection);
        }
        return null;
      },
    },
  };
}

/**
 * @param {string} file
 * @param {string} text
 * @param {number} offset
 * @param {Told} rejection
 */
function wrongAt(file, text, offset, { message, remedy }) {
  const before = text.slice(0, offset).split('\n');
  const loc = { file, line: before.length, column: before.at(-1)?.length ?? 0 };
  const error = new Error(`${message}. ${remedy}.`);
  const stack = `${error}\n    at ${file}:${loc.line}:${loc.column + 1}`; // no place of ours
  return Object.assign(error, { stack, id: file, loc });
}
