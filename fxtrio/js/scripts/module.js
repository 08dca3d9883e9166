/**
 * One module of client code: its tree without types, what its names refer to, what it exports.
 *
 * Names are resolved by `eslint-scope`; types are taken away by the bundler's own transform.
 */

import { withoutTypes } from '../check/names.js';
import * as allowed from './allowed.js';

/** @typedef {import('../check/names.js').Tools} Tools */
/** @typedef {import('../check/tree.js').Node} Node */

/**
 * Where a name leads to: something of another module, or what this one declares.
 *
 * `function` is a function or component, `context` what `createContext` returns, `fresh` an object
 * that nobody else has, `unknown` anything else.
 *
 * @typedef {{ kind: 'function' | 'context' | 'fresh' | 'unknown' }
 *   | { kind: 'import', specifier: string, name: string }} Meaning
 */

/** The name of an import of everything. */
export const ALL = '*';

/** Libraries whose exports are looked at one by one. @type {Record<string, Set<string>>} */
export const LIBRARIES = { react: allowed.REACT, 'fx/client': allowed.CLIENT };

export class Module {
  /** What each identifier refers to; null for globals. @type {Map<Node, any>} */
  #variables = new Map();
  /** What it exports, by name. @type {Map<string, Meaning>} */
  exports = new Map();
  /** Specifiers whose exports it exports, too. @type {string[]} */
  passedOn = [];

  /**
   * @param {Tools} tools
   * @param {{ path: string, text: string, lang: 'tsx' | 'ts' | 'jsx' }} file without mistakes of syntax
   */
  constructor(tools, file) {
    const { program, errors, offsetOf } = withoutTypes(tools, file);
    this.path = file.path;
    this.text = file.text;
    this.program = program;
    /** Whether there is nothing in the tree, since the code was not understood. */
    this.isUnread = errors.length > 0;
    this.offsetOf = offsetOf;
    const manager = tools.analyze(/** @type {any} */ (program), {
      ecmaVersion: 2025,
      sourceType: 'module',
      jsx: true,
      fallback: 'iteration',
    });
    for (const scope of /** @type {any[]} */ (manager.scopes)) {
      for (const { identifier, resolved } of scope.references) {
        this.#variables.set(identifier, resolved);
      }
      for (const variable of scope.variables) {
        for (const name of variable.identifiers) this.#variables.set(name, variable);
      }
    }
    for (const node of program.body) this.#readExports(node);
  }

  /**
   * Return line and column of a node, both from 1.
   *
   * @param {Node} node
   */
  placeOf(node) {
    const lines = this.text.slice(0, this.offsetOf(node)).split('\n');
    return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
  }

  /**
   * Return the variable that an identifier refers to: null for a global, undefined for a name
   * that is no reference, such as that of a property.
   *
   * @param {Node} identifier
   * @returns {any}
   */
  variableOf(identifier) {
    return this.#variables.get(identifier);
  }

  /**
   * Return what an identifier means.
   *
   * @param {Node} identifier
   * @returns {Meaning}
   */
  meaningOf(identifier) {
    const variable = this.variableOf(identifier);
    if (!variable || variable.defs.length !== 1) return { kind: 'unknown' };
    const [{ type, node, parent }] = variable.defs;
    if (type === 'ImportBinding') {
      const [name, specifier] = [importedName(node), parent.source.value];
      return { kind: 'import', name, specifier };
    }
    if (this.isWritten(variable)) return { kind: 'unknown' };
    if (type === 'FunctionName') return { kind: 'function' };
    const init = this.initOf(variable);
    return init ? this.meaningOfValue(init) : { kind: 'unknown' };
  }

  /**
   * Return what a name in a tag imports; undefined where it is something else.
   *
   * @param {Node} name
   */
  importOf(name) {
    const isMember = name.type === 'JSXMemberExpression';
    const first = isMember ? name.object : name;
    if (first.type !== 'JSXIdentifier') return undefined;
    const meaning = this.meaningOf(first);
    if (meaning.kind !== 'import' || !isMember) {
      return meaning.kind === 'import' ? meaning : undefined;
    }
    return meaning.name === ALL ? { ...meaning, name: name.property.name } : undefined;
  }

  /** Whether a variable gets another value than the one it is declared with. @param {any} variable */
  isWritten(variable) {
    return variable.references.some((/** @type {any} */ one) => one.isWrite() && !one.init);
  }

  /**
   * Return what a variable is declared with, if that is its only declaration and has no pattern.
   *
   * @param {any} variable
   * @returns {Node | null | undefined}
   */
  initOf(variable) {
    const definition = variable?.defs.length === 1 ? variable.defs[0] : undefined;
    const isPlain = definition?.type === 'Variable' && definition.node.id.type === 'Identifier';
    return isPlain ? definition.node.init : undefined;
  }

  /**
   * Return what the value of an expression is.
   *
   * @param {Node} value
   * @returns {Meaning}
   */
  meaningOfValue(value) {
    switch (value.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return { kind: 'function' };
      case 'ArrayExpression':
      case 'ObjectExpression':
      case 'NewExpression':
        return { kind: 'fresh' };
      case 'Identifier':
        return this.meaningOf(value);
      case 'CallExpression':
        return this.#meaningOfCall(value);
      default:
        return { kind: 'unknown' };
    }
  }

  /**
   * Return the name in React that an expression has: `memo` for `memo` and `React.memo`.
   *
   * @param {Node} callee
   * @returns {string | undefined}
   */
  nameInReact(callee) {
    const isMember = callee.type === 'MemberExpression' && !callee.computed;
    const found = isMember ? callee.object : callee;
    if (found.type !== 'Identifier') return undefined;
    const meaning = this.meaningOf(found);
    if (meaning.kind !== 'import' || meaning.specifier !== 'react') return undefined;
    if (!isMember) return meaning.name;
    return meaning.name === ALL || meaning.name === 'default' ? callee.property.name : undefined;
  }

  /** @param {Node} call @returns {Meaning} */
  #meaningOfCall({ callee, arguments: args }) {
    const name = this.nameInReact(callee);
    if (name === 'createContext') return { kind: 'context' };
    return name === 'memo' && args.length > 0 ? this.meaningOfValue(args[0]) : { kind: 'unknown' };
  }

  /** @param {Node} node of the top level */
  #readExports(node) {
    if (node.type === 'ExportAllDeclaration') {
      if (node.exported === null) this.passedOn.push(node.source.value);
    } else if (node.type === 'ExportDefaultDeclaration') {
      this.exports.set('default', this.meaningOfValue(node.declaration));
    } else if (node.type === 'ExportNamedDeclaration' && node.source !== null) {
      for (const { local, exported } of node.specifiers) {
        const specifier = node.source.value;
        this.exports.set(nameOf(exported), { kind: 'import', specifier, name: nameOf(local) });
      }
    } else if (node.type === 'ExportNamedDeclaration') {
      for (const { local, exported } of node.specifiers) {
        this.exports.set(nameOf(exported), this.meaningOf(local));
      }
      const { declaration } = node;
      const declared = declaration?.declarations ?? (declaration ? [declaration] : []);
      for (const { id } of declared) {
        if (id.type === 'Identifier') this.exports.set(id.name, this.meaningOf(id));
      }
    }
  }
}

/** What names mean, in whichever module they are declared. */
export class Meanings {
  /**
   * @param {Module} module
   * @param {(specifier: string, name: string) => Meaning} resolve what an import of the project means
   */
  constructor(module, resolve) {
    this.module = module;
    this.resolve = resolve;
  }

  /** @param {Node} node an identifier, or a member of all that a module exports @returns {Meaning} */
  of(node) {
    const isMember = node.type === 'MemberExpression';
    const found = this.module.meaningOf(isMember ? node.object : node);
    if (!isMember) return this.#declared(found);
    const { computed, property } = node;
    if (computed && property.type !== 'Literal') return { kind: 'unknown' };
    return this.#ofMember(found, computed ? String(property.value) : property.name);
  }

  /**
   * Return what the name of a tag means: undefined for an element of HTML, null for a global.
   *
   * @param {Node} name
   * @returns {Meaning | undefined | null}
   */
  ofTag(name) {
    if (name.type === 'JSXMemberExpression') return this.#ofTagMember(name);
    if (name.type !== 'JSXIdentifier') return undefined;
    const variable = this.module.variableOf(name);
    return variable ? this.of(name) : variable;
  }

  /**
   * Return the module of which an identifier is all; "" for others.
   *
   * @param {Node} identifier
   * @returns {string}
   */
  wholeOf(identifier) {
    const meaning = this.module.meaningOf(identifier);
    const isAll = meaning.kind === 'import' && meaning.name === ALL;
    return this.libraryOf(identifier) ?? (isAll ? meaning.specifier : '');
  }

  /**
   * Return the library of which an identifier is all.
   *
   * @param {Node} identifier
   * @returns {string | undefined}
   */
  libraryOf(identifier) {
    const meaning = this.module.meaningOf(identifier);
    if (meaning.kind !== 'import' || !isLibrary(meaning.specifier)) return undefined;
    return meaning.name === ALL || meaning.name === 'default' ? meaning.specifier : undefined;
  }

  /** @param {Node} name such as `React.Fragment` or `Theme.Provider` @returns {Meaning} */
  #ofTagMember({ object, property }) {
    if (object.type !== 'JSXIdentifier') return { kind: 'unknown' };
    const specifier = this.libraryOf(object);
    if (specifier !== undefined) return { kind: 'import', specifier, name: property.name };
    const meaning = this.of(object);
    return meaning.kind === 'context'
      ? meaning
      : this.#ofMember(this.module.meaningOf(object), property.name);
  }

  /** @param {Meaning} whole @param {string} name @returns {Meaning} */
  #ofMember(whole, name) {
    const isAll = whole.kind === 'import' && whole.name === ALL;
    return isAll ? this.#declared({ ...whole, name }) : { kind: 'unknown' };
  }

  /** @param {Meaning} meaning @returns {Meaning} */
  #declared(meaning) {
    if (meaning.kind !== 'import' || isLibrary(meaning.specifier)) return meaning;
    return this.resolve(meaning.specifier, meaning.name);
  }
}

/** Whether a specifier is one whose exports are looked at one by one. @param {string} specifier */
export function isLibrary(specifier) {
  return Object.hasOwn(LIBRARIES, specifier);
}

/**
 * @param {Node} specifier of an import
 * @returns {string}
 */
function importedName({ type, imported }) {
  if (type === 'ImportDefaultSpecifier') return 'default';
  return type === 'ImportNamespaceSpecifier' ? ALL : nameOf(imported);
}

/** @param {Node} node an identifier, or a name in quotes */
function nameOf(node) {
  return node.type === 'Identifier' ? node.name : String(node.value);
}
