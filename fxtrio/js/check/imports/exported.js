/**
 * The names that modules export, as far as their text tells: no code of a project or package runs.
 *
 * A module of another form than these, such as one that fills its exports in a loop, has any name.
 */

import fs from 'node:fs';
import path from 'node:path';

import { reactHome } from '../../vite/library/packages.js';
import { LIBRARY, OF_LIBRARY } from '../../worker/library.js';
import { ofCommonJs } from './common-js.js';
import { moduleFile } from './specifiers.js';
import { similar } from '../similar.js';

/** @typedef {import('../names.js').Tools} Tools */
/**
 * Own names, and modules of which a module exports all (`stars`); of CommonJS these are required.
 *
 * @typedef {{ names: Set<string>, stars: string[], isCommonJs: boolean }} Exports
 */

const CODE = /\.([cm]?[jt]s|[jt]sx)$/;
const MOST = 12; // names that a message lists
/** Characters of a CommonJS module that is read: its whole tree is needed (100 ms for these). */
const LARGEST = 500_000;

/** How packages are built that React's own are. */
const OF_REACT = {
  file: new RegExp(`/node_modules/(${LIBRARY.packages.join('|')})/(?!.*/node_modules/)`),
  name: /\bexports\.([A-Za-z_$][\w$]*)\s*=/g,
  star: /\bmodule\.exports\s*=\s*require\(\s*['"]([^'"]+)['"]\s*\)/g,
};

/**
 * Return what to say of a name that a module does not export.
 *
 * @param {string} module its name in messages
 * @param {string} name
 * @param {string[]} known what it exports
 * @returns {{ message: string, remedy: string }}
 */
export function lackOf(module, name, known) {
  if (name === 'default') {
    const named = known.find((one) => one !== 'default') ?? '…';
    return {
      message: `${module} has no default export`,
      remedy: `Write import { ${named} } in braces`,
    };
  }
  const message = `${module} has no export '${name}'`;
  const near = similar(name, known);
  if (near !== undefined) return { message, remedy: `Did you mean '${near}'?` };
  if (known.includes('default')) {
    return { message, remedy: 'Its default is imported without braces' };
  }
  const listed = known.slice(0, MOST).join(', ');
  return { message, remedy: known.length > 0 ? `It has ${listed}` : 'It exports nothing' };
}

/** Knows the exports of files, each as long as the file stays as it is. */
export class Exported {
  /** @type {Map<string, { stamp: string, exports: Exports | null }>} */
  #files = new Map();
  #parse;
  #toolchain;
  #imported;
  #required;

  /**
   * @param {Tools['parse']} parse
   * @param {string} toolchain
   * @param {typeof import('rolldown/experimental').ResolverFactory} Resolver
   */
  constructor(parse, toolchain, Resolver) {
    this.#parse = parse;
    this.#toolchain = toolchain;
    const shared = {
      mainFields: ['browser', 'module', 'main'],
      aliasFields: [['browser']],
      extensions: ['.mjs', '.js', '.cjs', '.mts', '.ts', '.jsx', '.tsx', '.json'],
    };
    const conditions = ['browser', 'module', 'development', 'default'];
    this.#imported = new Resolver({ ...shared, conditionNames: ['import', ...conditions] });
    this.#required = new Resolver({ ...shared, conditionNames: ['require', ...conditions] });
  }

  /**
   * Return what is wrong with a name that a file imports of a module, undefined when nothing is
   * known to be.
   *
   * @param {string} specifier
   * @param {string} name
   * @param {string} root of the project
   * @param {string} folder of the importing file
   * @param {boolean} [mayBeType] whether the name may be that of a type, which bundlers look for in
   *   modules, and not in CommonJS
   * @returns {{ message: string, remedy: string } | undefined}
   */
  lack = (specifier, name, root, folder, mayBeType = false) => {
    const file = this.#fileOf(specifier, root, folder);
    /** @type {Set<string>} */
    const seen = new Set();
    if (file === undefined || this.#has(file, name, seen) !== false) return undefined;
    if (mayBeType && [...seen].some((one) => this.#of(one)?.isCommonJs)) return undefined;
    return lackOf(`'${specifier}'`, name, [...this.#all(file, new Set())]);
  };

  /**
   * @param {string} specifier
   * @param {string} root
   * @param {string} folder
   */
  #fileOf(specifier, root, folder) {
    if (/^[/#]|^\w[\w+.-]*:|[?#]/.test(specifier)) return undefined; // a build knows
    if (/^(\.|@\/)/.test(specifier)) return moduleFile(specifier, root, folder);
    return this.#resolved(this.#imported, specifier, folder, root);
  }

  /**
   * @param {InstanceType<typeof import('rolldown/experimental').ResolverFactory>} resolver
   * @param {string} specifier
   * @param {string} folder
   * @param {string} [root] of the project, for which React is the one that it gets
   */
  #resolved(resolver, specifier, folder, root) {
    let from = folder;
    if (root !== undefined && OF_LIBRARY.test(specifier)) {
      try {
        from = reactHome(root, this.#toolchain);
      } catch {
        return undefined; // which a build tells
      }
    }
    return resolver.sync(from, specifier).path;
  }

  /**
   * Whether a module exports a name; undefined where that is not known.
   *
   * @param {string} file
   * @param {string} name
   * @param {Set<string>} seen files that were looked at: two may export all of each other
   * @returns {boolean | undefined}
   */
  #has(file, name, seen) {
    if (seen.has(file)) return false;
    seen.add(file);
    const exports = this.#of(file);
    if (exports === null) return undefined;
    if (exports.names.has(name)) return true;
    if (name === 'default' && exports.isCommonJs) return true;
    let isKnown = true;
    for (const star of name === 'default' ? [] : exports.stars) {
      const next = this.#starOf(exports, star, file);
      const found = next === undefined ? undefined : this.#has(next, name, seen);
      if (found === true) return true;
      if (found === undefined) isKnown = false;
    }
    return isKnown ? false : undefined;
  }

  /**
   * @param {string} file
   * @param {Set<string>} seen
   * @returns {Set<string>}
   */
  #all(file, seen) {
    const exports = seen.has(file) ? null : this.#of(file);
    if (exports === null) return new Set();
    seen.add(file);
    const all = new Set([...exports.names].filter((name) => !name.startsWith('__')));
    for (const star of exports.stars) {
      const next = this.#starOf(exports, star, file);
      for (const name of next === undefined ? [] : this.#all(next, seen)) {
        if (name !== 'default') all.add(name);
      }
    }
    return all;
  }

  /**
   * @param {Exports} exports
   * @param {string} star
   * @param {string} file
   */
  #starOf({ isCommonJs }, star, file) {
    const resolver = isCommonJs ? this.#required : this.#imported;
    return this.#resolved(resolver, star, path.dirname(file));
  }

  /**
   * @param {string} file
   * @returns {Exports | null} null where the text does not tell
   */
  #of(file) {
    if (!CODE.test(file)) return null;
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    const stamp = `${stat.mtimeMs} ${stat.size}`;
    const known = this.#files.get(file);
    if (known?.stamp === stamp) return known.exports;
    const exports = this.#read(file, fs.readFileSync(file, 'utf8'));
    this.#files.set(file, { stamp, exports });
    return exports;
  }

  /**
   * @param {string} file
   * @param {string} text
   * @returns {Exports | null}
   */
  #read(file, text) {
    const ofItself = OF_REACT.file.test(file) ? ofReact(text) : null;
    if (ofItself !== null) return ofItself;
    const lang = /\.[cm]?ts$/.test(file) ? 'ts' : 'tsx';
    const parsed = this.#parse(file, text, { lang });
    if (parsed.errors.length > 0 || /\bexport\s*=/.test(text)) return null;
    if (parsed.module.hasModuleSyntax) {
      const isMixed = parsed.module.staticExports.length === 0 && /\bexports\b/.test(text);
      return isMixed ? null : ofModule(parsed.module);
    }
    if (text.length > LARGEST || !/\bexports\b/.test(text)) return null;
    return ofCommonJs(/** @type {any} */ (parsed.program));
  }
}

/**
 * @param {string} text
 * @returns {Exports | null} null for the text of a package in its place
 */
function ofReact(text) {
  const names = new Set([...text.matchAll(OF_REACT.name)].map(([, name]) => name));
  const stars = [...text.matchAll(OF_REACT.star)].map(([, star]) => star);
  return names.size + stars.length > 0 ? { names, stars, isCommonJs: true } : null;
}

/**
 * @param {import('rolldown/utils').ParseResult['module']} module
 * @returns {Exports}
 */
function ofModule({ staticExports }) {
  /** @type {Set<string>} */
  const names = new Set();
  /** @type {string[]} */
  const stars = [];
  for (const { exportName, moduleRequest } of staticExports.flatMap(({ entries }) => entries)) {
    if (exportName.kind === 'Default') names.add('default');
    else if (exportName.name) {
      names.add(exportName.name);
    } // of types, too: who imports one knows it
    else if (moduleRequest) stars.push(moduleRequest.value);
  }
  return { names, stars, isCommonJs: false };
}
