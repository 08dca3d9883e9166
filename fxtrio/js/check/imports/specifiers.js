/** Imports of a UI half that lead nowhere, as far as the file system tells. */

import fs from 'node:fs';
import path from 'node:path';

import { LIBRARY } from '../../worker/library.js';
import { isInstalled } from '../../vite/builtins.js';
import { foreignImport } from '../../vite/foreign.js';
import { nextRemedy } from '../next.js';
import { EXPORTS } from '../pyxle.js';
import { similar } from '../similar.js';
import { walk } from '../tree.js';

/** @typedef {import('../tree.js').Node} Node */
/**
 * Returns what is wrong with a name of a module, imported from a folder of a project; undefined
 * when nothing is known to be (`exported.js`).
 *
 * @typedef {import('./exported.js').Exported['lack']} Lack
 */
/**
 * A mistake in a file; `certain` when no way leads past it, so that a build may fail for it.
 *
 * @typedef {{ offset: number, message: string, remedy: string, certain: boolean }} Mistake
 */

/** What the bundler adds to a path (`config.js`), and what stands for it in TypeScript. */
const EXTENSIONS = ['', '.mjs', '.js', '.mts', '.ts', '.jsx', '.tsx', '.json'];
const SAME = /\.(m?)js(x?)$/;
const CLIENT = 'fx/client';
const FRAMEWORK = /^fx(trio)?(\/|$)/;

/** Files whose exports may be those of types. */
const TYPED = /\.(fxl|m?ts|tsx)$/;

/** Types of the nodes that import. */
export const IMPORT = /^(Import|ExportNamed|ExportAll)(Declaration|Expression)$/;

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
 * @param {Lack} place.lack
 * @returns {Mistake[]}
 */
export function importMistakes(program, plain, { root, source, exported, lack }) {
  const { needed, bindings, handedOn } = neededNames(plain);
  const isTyped = TYPED.test(source);
  const folder = path.dirname(path.join(root, source));
  /** @type {Mistake[]} */
  const found = [];
  walk(program, (node) => {
    if (!IMPORT.test(node.type) || typeof node.source?.value !== 'string') return;
    const specifier = node.source.value;
    const next = needed.has(specifier) ? nextRemedy(specifier) : undefined;
    const later = node.type === 'ImportExpression';
    const foreign = needed.has(specifier) && foreignImport(specifier, root, folder, later);
    if (specifier === CLIENT) found.push(...unknownNames(node, exported));
    else if (next !== undefined) {
      const message = `'${specifier}' works only in Next.js`;
      const certain = !resolves(specifier, root, folder);
      found.push({ offset: node.source.start, message, remedy: next, certain });
    } else if (foreign) {
      found.push({ offset: node.source.start, ...foreign, certain: true });
    } else if (needed.has(specifier) && !resolves(specifier, root, folder)) {
      const message = `'${specifier}' cannot be found`;
      const remedy = remedyFor(specifier, root, source);
      found.push({ offset: node.source.start, message, remedy, certain: true });
    } else if (needed.has(specifier)) {
      for (const { name, bound, offset } of namesOf(node)) {
        if (!bindings.has(bound)) continue;
        const mayBeType = isTyped && handedOn.has(bound);
        const lacking = lack(specifier, name, root, folder, mayBeType);
        if (lacking !== undefined) found.push({ offset, ...lacking, certain: true });
      }
    }
  });
  return found.sort((one, other) => one.offset - other.offset);
}

/**
 * Return what is imported when types are away, and the names that this binds or exports, each of
 * which a file has once. Those that it hands on (`handedOn`) may be names of types, which the
 * transform takes away only where it sees how they are used.
 *
 * @param {Node} plain
 */
function neededNames(plain) {
  /** @type {Set<string>} */
  const needed = new Set();
  /** @type {Set<string>} */
  const bindings = new Set();
  /** @type {Set<string>} */
  const handedOn = new Set();
  walk(plain, (node) => {
    if (node.type === 'ExportDefaultDeclaration' && node.declaration.type === 'Identifier') {
      handedOn.add(node.declaration.name);
    }
    if (!IMPORT.test(node.type)) return;
    if (node.source) needed.add(node.source.value);
    for (const { name, bound } of namesOf(node)) {
      if (node.source) bindings.add(bound);
      if (node.type === 'ExportNamedDeclaration') handedOn.add(node.source ? bound : name);
    }
  });
  return { needed, bindings, handedOn };
}

/**
 * Return the names that a statement imports, or exports from elsewhere, what it calls them, and
 * their offsets.
 *
 * @param {Node} node
 * @returns {{ name: string, bound: string, offset: number }[]}
 */
function namesOf({ specifiers = [] }) {
  return specifiers.flatMap((/** @type {Node} */ one) => {
    const isExport = one.type === 'ExportSpecifier';
    const named = isExport ? one.local : one.imported;
    const bound = isExport ? `export ${nameOf(one.exported)}` : one.local.name;
    const offset = one.start;
    if (one.type === 'ImportDefaultSpecifier') return [{ name: 'default', bound, offset }];
    return named === undefined ? [] : [{ name: nameOf(named), bound, offset }];
  });
}

/**
 * @param {Node} node
 * @returns {string}
 */
function nameOf({ name, value }) {
  return name ?? value;
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
      const remedy = `Write import { … } from '${CLIENT}'`;
      return [{ offset: one.start, message, remedy, certain: true }];
    }
    const name = one.imported?.name ?? one.imported?.value;
    if (name === undefined || exported.includes(name)) return [];
    const near = similar(name, exported);
    const listed = near === undefined ? `It has ${exported.join(', ')}` : `Did you mean '${near}'?`;
    const remedy = Object.hasOwn(EXPORTS, name) ? EXPORTS[name] : listed;
    const message = `'${CLIENT}' has no export '${name}'`;
    return [{ offset: one.start, message, remedy, certain: true }];
  });
}

/**
 * @param {string} specifier
 * @param {string} root
 * @param {string} folder of the importing file
 */
function resolves(specifier, root, folder) {
  if (/^([/#]|\w[\w+.-]*:)/.test(specifier)) return true; // told by a build
  const plain = specifier.split(/[?#]/, 1)[0];
  if (/^(\.|@\/)/.test(plain)) return moduleFile(plain, root, folder) !== undefined;
  const name = packageOf(plain);
  if (LIBRARY.packages.includes(name)) return true;
  return isInstalled(name, folder);
}

/**
 * Return the file of the project that an import means, undefined for other imports.
 *
 * @param {string} specifier
 * @param {string} root
 * @param {string} folder of the importing file
 */
export function moduleFile(specifier, root, folder) {
  const plain = specifier.split(/[?#]/, 1)[0];
  if (!/^(\.|@\/)/.test(plain)) return undefined;
  const file = plain.startsWith('.')
    ? path.resolve(folder, plain)
    : path.join(root, plain.slice(2));
  const names = [file, file.replace(SAME, '.$1ts$2'), file.replace(SAME, '.$1tsx')];
  return [...names, path.join(file, 'index')]
    .flatMap((name) => EXTENSIONS.map((end) => name + end))
    .find((name) => fs.statSync(name, { throwIfNoEntry: false })?.isFile());
}

/** @param {string} specifier */
function packageOf(specifier) {
  return specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
}

/**
 * Return what to do about a package, or a module of the framework, that is not there.
 *
 * @param {string} specifier
 */
export function packageRemedy(specifier) {
  if (/^pyxle(\/|$)/.test(specifier)) return `Write '${CLIENT}'`;
  if (specifier.startsWith('#')) return `Check "imports" in package.json`;
  const foreign = nextRemedy(specifier);
  if (foreign !== undefined) return foreign;
  if (specifier.startsWith('~/')) {
    return `Write '@/${specifier.slice(2)}': '@' is the project folder`;
  }
  if (!FRAMEWORK.test(specifier)) return `Run 'npm install ${packageOf(specifier)}'`;
  const near = similar(specifier, [CLIENT]);
  return near === undefined
    ? `The module of the framework is '${CLIENT}'`
    : `Did you mean '${CLIENT}'?`;
}

/**
 * Whether the project says that it needs a package.
 *
 * @param {string} name
 * @param {string} root
 */
function isListed(name, root) {
  try {
    const listed = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
    return name in { ...listed.dependencies, ...listed.devDependencies };
  } catch {
    return false; // there is none, or it is broken: both are told elsewhere
  }
}

/**
 * @param {string} specifier
 * @param {string} root
 * @param {string} source
 */
function remedyFor(specifier, root, source) {
  if (!/^(\.|@\/)/.test(specifier)) {
    const rooted = `@/${specifier}`;
    if (moduleFile(rooted, root, root) !== undefined) return `Write '${rooted}'`;
    return isListed(packageOf(specifier), root) ? "Run 'npm install'" : packageRemedy(specifier);
  }
  const base = specifier.startsWith('@/') ? root : path.dirname(path.join(root, source));
  const file = path.resolve(base, specifier.replace(/^@\//, ''));
  const folder = path.dirname(file);
  const near = similar(path.basename(file), fs.existsSync(folder) ? fs.readdirSync(folder) : []);
  return near === undefined ? 'Check the path' : `There is '${near}' in that folder`;
}
