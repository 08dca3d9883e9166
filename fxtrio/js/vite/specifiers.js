/** Imports of a UI half that lead nowhere, as far as the file system tells. */

import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';

import { similar } from './similar.js';
import { walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {{ offset: number, message: string, remedy: string }} Mistake */

/** What the bundler adds to a path (`config.js`), and what stands for it in TypeScript. */
const EXTENSIONS = ['', '.mjs', '.js', '.mts', '.ts', '.jsx', '.tsx', '.json'];
const SAME = /\.(m?)js(x?)$/;
const CLIENT = 'fx/client';
const IMPORT = /^(Import|ExportNamed|ExportAll)(Declaration|Expression)$/;

/**
 * Return the imports of a file that cannot be resolved, and the names that `fx/client` lacks,
 * by place.
 *
 * @param {Node} program
 * @param {Node} plain the tree without types: imports of nothing but types are not in it
 * @param {object} place
 * @param {string} place.root folder of the project
 * @param {string} place.source
 * @param {string[]} place.exported the names of `fx/client`, types among them
 * @returns {Mistake[]}
 */
export function importMistakes(program, plain, { root, source, exported }) {
  /** @type {Set<string>} */
  const needed = new Set();
  walk(plain, (node) => {
    if (IMPORT.test(node.type)) needed.add(node.source?.value);
  });
  /** @type {Mistake[]} */
  const found = [];
  walk(program, (node) => {
    if (!IMPORT.test(node.type) || typeof node.source?.value !== 'string') return;
    const specifier = node.source.value;
    if (specifier === CLIENT) found.push(...unknownNames(node, exported));
    else if (
      needed.has(specifier) &&
      !resolves(specifier, root, path.dirname(path.join(root, source)))
    ) {
      const message = `'${specifier}' cannot be found`;
      found.push({
        offset: node.source.start,
        message,
        remedy: remedyFor(specifier, root, source),
      });
    }
  });
  return found.sort((one, other) => one.offset - other.offset);
}

/**
 * @param {Node} node an import of `fx/client`
 * @param {string[]} exported
 * @returns {Mistake[]}
 */
function unknownNames(node, exported) {
  return (node.specifiers ?? []).flatMap((/** @type {Node} */ one) => {
    if (one.type === 'ImportDefaultSpecifier') {
      const message = `'${CLIENT}' has no default export`;
      return [{ offset: one.start, message, remedy: `Write import { … } from '${CLIENT}'` }];
    }
    const name = one.imported?.name ?? one.imported?.value;
    if (name === undefined || exported.includes(name)) return [];
    const near = similar(name, exported);
    const remedy = near === undefined ? `It has ${exported.join(', ')}` : `Did you mean '${near}'?`;
    return [{ offset: one.start, message: `'${CLIENT}' has no '${name}'`, remedy }];
  });
}

/**
 * @param {string} specifier
 * @param {string} root
 * @param {string} folder of the importing file
 */
function resolves(specifier, root, folder) {
  const plain = specifier.replace(/[?#].*$/, '');
  if (plain.startsWith('.')) return isModule(path.resolve(folder, plain));
  if (plain.startsWith('@/')) return isModule(path.join(root, plain.slice(2)));
  if (/^(\/|\w[\w+.-]*:|fx\/|virtual:|#)/.test(plain) || isBuiltin(plain)) return true; // told by a build
  const name = packageOf(plain);
  if (/^react(-dom)?$/.test(name)) return true;
  for (let here = folder; ; here = path.dirname(here)) {
    if (fs.existsSync(path.join(here, 'node_modules', name))) return true;
    if (here === path.dirname(here)) return false;
  }
}

/** @param {string} file without the extensions that may be left out */
function isModule(file) {
  const names = [file, file.replace(SAME, '.$1ts$2'), file.replace(SAME, '.$1tsx')];
  return [...names, path.join(file, 'index')].some((name) =>
    EXTENSIONS.some((end) => fs.statSync(name + end, { throwIfNoEntry: false })?.isFile() ?? false),
  );
}

/** @param {string} specifier */
function packageOf(specifier) {
  return specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
}

/**
 * @param {string} specifier
 * @param {string} root
 * @param {string} source
 */
function remedyFor(specifier, root, source) {
  if (!/^(\.|@\/)/.test(specifier)) return `Run 'npm install ${packageOf(specifier)}'`;
  const base = specifier.startsWith('@/') ? root : path.dirname(path.join(root, source));
  const file = path.resolve(base, specifier.replace(/^@\//, ''));
  const folder = path.dirname(file);
  const near = similar(path.basename(file), fs.existsSync(folder) ? fs.readdirSync(folder) : []);
  return near === undefined ? 'Check the path' : `There is '${near}' in that folder`;
}
