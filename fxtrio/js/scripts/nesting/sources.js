/**
 * Where values come from that a component shows: which elements use it, what calls a function, what is
 * given under a name, and what code adds to lists. All modules of a project are looked at once.
 */

import { MUTATING } from '../allowed.js';
import { textOf } from '../elements/elements.js';
import { isFunction, MaybeElements, nameOf, returnedBy } from '../element-types/maybe-elements.js';
import { nodesOf, pushParts, walk } from '../../check/tree.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */
/** @typedef {import('../proof.js').Proof} Proof */
/** A node, and the file that it is in. @typedef {{ file: string, node: Node }} Place */

/** How often names lead to others before they count as unknown (count). */
const DEEPEST = 20;

const OF_PATTERNS = /^(Property|ObjectPattern|ArrayPattern|RestElement|AssignmentPattern)$/;

const NO_NAMES = new Set();

export class Sources {
  /** Elements that show a component, by its function. @type {Map<Node, Place[]>} */
  uses = new Map();
  /** Components that are used. @type {Place[]} */
  components = [];
  /** Calls of a function, and those that it is passed to. @type {Map<Node, Place[]>} */
  calls = new Map();
  /** Functions that contexts call. @type {Set<Node>} */
  consumers = new Set();
  /** Values of attributes and properties, by name. @type {Map<string, Place[]>} */
  passed = new Map();
  /** What is added to lists and objects, by file. @type {Map<string, Place[]>} */
  added = new Map();
  /** @type {Map<string, Map<string, Node>>} */
  #exports = new Map();
  /** @type {Map<string, MaybeElements>} */
  #trees = new Map();

  /**
   * @param {Proof} proof
   * @param {Map<string, Module>} modules by file
   */
  constructor(proof, modules) {
    this.proof = proof;
    this.modules = modules;
    for (const [file, module] of modules) this.#exports.set(file, exportsOf(module.program));
    for (const [file, module] of modules) {
      this.#trees.set(file, new MaybeElements(module, () => NO_NAMES));
      walk(module.program, (node) => this.#read(file, node));
    }
  }

  /** @param {string} file @returns {Module} */
  moduleOf(file) {
    return /** @type {Module} */ (this.modules.get(file));
  }

  /** @param {Place} place @returns {Node | undefined} */
  parentOf({ file, node }) {
    return this.#trees.get(file)?.parentOf(node);
  }

  /**
   * Return what a module exports under a name.
   *
   * @param {string} importer
   * @param {string} specifier
   * @param {string} name
   * @returns {Place | undefined}
   */
  exported(importer, specifier, name) {
    const { file, name: own } = this.proof.declared(importer, specifier, name);
    return this.exportOf(file, own);
  }

  /** @param {string} file @param {string} name @returns {Place | undefined} */
  exportOf(file, name) {
    const node = this.#exports.get(file)?.get(name);
    if (node) return { file, node };
    const passed = this.modules.get(file)?.exports.get(name);
    return passed?.kind === 'import'
      ? this.exported(file, passed.specifier, passed.name)
      : undefined;
  }

  /**
   * Return the function that a name or an expression stands for.
   *
   * @param {Place} place
   * @param {number} [depth]
   * @returns {Place | undefined}
   */
  functionOf({ file, node }, depth = 0) {
    if (depth > DEEPEST) return undefined;
    if (isFunction(node)) return { file, node };
    const module = this.moduleOf(file);
    const follow = (/** @type {Place | undefined} */ to) => to && this.functionOf(to, depth + 1);
    switch (node.type) {
      case 'ParenthesizedExpression':
        return follow({ file, node: node.expression });
      case 'CallExpression':
        return module.nameInReact(node.callee) === 'memo' && node.arguments.length > 0
          ? follow({ file, node: node.arguments[0] })
          : undefined;
      case 'JSXMemberExpression':
      case 'MemberExpression':
        return follow(this.memberOfModule(file, node));
      case 'Identifier':
      case 'JSXIdentifier': {
        const variable = module.variableOf(node);
        if (variable?.defs.length !== 1) return undefined;
        const [{ type, node: declared }] = variable.defs;
        if (type === 'ImportBinding') return follow(this.imported(file, node));
        if (module.isWritten(variable)) return undefined;
        if (type === 'FunctionName') return { file, node: declared };
        const init = module.initOf(variable);
        return init ? follow({ file, node: init }) : undefined;
      }
      default:
        return undefined;
    }
  }

  /**
   * Return what pages fill slots with; undefined where that does not show.
   *
   * @returns {(Place | undefined)[]}
   */
  slots() {
    return [...this.modules].flatMap(([file, module]) => {
      const named = this.#exports.get(file)?.get('slots');
      if (!named) return [];
      const init = module.initOf(module.variableOf(named));
      if (init?.type !== 'ObjectExpression') return [undefined];
      return init.properties.map((/** @type {Node} */ { value }) =>
        value ? { file, node: value } : undefined,
      );
    });
  }

  /** Whether a name is imported from a module that has been read. @param {Place} place */
  isOfModule({ file, node }) {
    const meaning = this.moduleOf(file).meaningOf(node);
    if (meaning.kind !== 'import') return false;
    const { imports, inIslands } = this.proof.knownOf(file) ?? {};
    const found = imports?.get(meaning.specifier) ?? inIslands?.get(meaning.specifier);
    return found !== undefined && this.proof.knownOf(found) !== undefined;
  }

  /** Return what an imported name stands for. @param {string} file @param {Node} name */
  imported(file, name) {
    const meaning = this.moduleOf(file).meaningOf(name);
    return meaning.kind === 'import'
      ? this.exported(file, meaning.specifier, meaning.name)
      : undefined;
  }

  /**
   * Return what a member of all that a module exports stands for.
   *
   * @param {string} file
   * @param {Node} member
   * @returns {Place | undefined}
   */
  memberOfModule(file, { object, property, computed }) {
    if (!/Identifier/.test(object.type) || (computed && property.type !== 'Literal')) {
      return undefined;
    }
    const meaning = this.moduleOf(file).meaningOf(object);
    if (meaning.kind !== 'import' || meaning.name !== '*') return undefined;
    return this.exported(file, meaning.specifier, String(nameOf(property)));
  }

  /**
   * Return the keys by which patterns find a name, the innermost first.
   *
   * @param {Place} name
   * @returns {string[]}
   */
  keysOf({ file, node }) {
    const keys = [];
    let parent = this.parentOf({ file, node });
    for (let inner = node; parent && OF_PATTERNS.test(parent.type);) {
      if (parent.type === 'Property') keys.push(String(nameOf(parent.key)));
      else if (/^(Array|Rest)/.test(parent.type)) keys.push('');
      else if (parent.type === 'AssignmentPattern' && parent.right === inner) break;
      inner = parent;
      parent = this.parentOf({ file, node: inner });
    }
    return keys;
  }

  /**
   * Return the functions whose parameter, as a whole, a value may be, or a part of it; undefined for
   * what is taken out of an element.
   *
   * @param {Place} place
   * @param {Set<Node>} [seen]
   * @returns {(Node | undefined)[]}
   */
  ownersOf({ file, node }, seen = new Set()) {
    if (seen.has(node)) return [];
    seen.add(node);
    const follow = (/** @type {Place} */ to) => this.ownersOf(to, seen);
    const underKeys = (/** @type {string[]} */ keys) => {
      const passed = (this.passed.get(keys[0]) ?? []).flatMap(follow);
      return keys.includes('props') ? [undefined, ...passed] : passed;
    };
    if (
      node.type === 'MemberExpression' &&
      (!node.computed || typeof node.property.value === 'string')
    ) {
      return underKeys([String(nameOf(node.property))]);
    }
    if (node.type === 'Identifier') {
      const definitions = this.moduleOf(file).variableOf(node)?.defs ?? [];
      return definitions.flatMap((/** @type {any} */ { type, name, node: declared }) => {
        const keys = /^(Parameter|Variable)$/.test(type) ? this.keysOf({ file, node: name }) : [];
        if (keys.length > 0 && keys[0] !== '') return underKeys(keys);
        if (type === 'Parameter') return [declared];
        return declared.init ? follow({ file, node: declared.init }) : [];
      });
    }
    /** @type {Node[]} */
    const parts = [];
    pushParts(node, parts);
    return parts.flatMap((one) => follow({ file, node: one }));
  }

  /** @param {string} file @param {Node} node */
  #read(file, node) {
    const place = { file, node };
    const pass = (/** @type {string} */ name, /** @type {Node | null} */ value) => {
      if (value) addTo(this.passed, name, { file, node: value });
    };
    switch (node.type) {
      case 'JSXElement': {
        const component = this.functionOf({ file, node: node.openingElement.name });
        if (component) {
          addTo(this.uses, component.node, place);
          this.components.push(component);
        } else this.#readConsumer(place);
        break;
      }
      case 'JSXAttribute':
        pass(textOf(node.name), node.value?.expression ?? node.value);
        break;
      case 'Property':
        if (this.parentOf(place)?.type === 'ObjectPattern') break;
        if (node.computed && node.key.type !== 'Literal') break;
        for (const one of node.kind === 'get' ? returnedBy(node.value.body) : [node.value]) {
          pass(String(nameOf(node.key)), one);
        }
        break;
      case 'AssignmentPattern':
        pass(this.#trees.get(file)?.keyOfPattern(node) ?? '', node.right);
        break;
      case 'AssignmentExpression':
      case 'ForOfStatement':
        for (const { type, property } of nodesOf(node.left)) {
          if (type !== 'MemberExpression') continue;
          pass(String(nameOf(property) ?? ''), node.right);
          addTo(this.added, file, { file, node: node.right });
        }
        break;
      case 'CallExpression':
        this.#readCall(place);
        break;
      default:
    }
  }

  /** Contexts call a function with their value. @param {Place} place of an element */
  #readConsumer({ file, node }) {
    for (const { expression } of node.children) {
      const called = expression && this.functionOf({ file, node: expression });
      if (called) this.consumers.add(called.node);
    }
  }

  /** @param {Place} place of a call */
  #readCall({ file, node }) {
    for (const one of [node.callee, ...node.arguments]) {
      const called = this.functionOf({ file, node: one });
      if (called) addTo(this.calls, called.node, { file, node });
    }
    const { type, property } = node.callee;
    const isChange = type === 'MemberExpression' && MUTATING.has(String(nameOf(property)));
    const name = this.moduleOf(file).nameInReact(node.callee);
    for (const value of node.arguments) {
      const argument = { file, node: value };
      if (name === 'createContext') addTo(this.passed, 'value', argument);
      else if (isChange && !isFunction(value)) addTo(this.added, file, argument);
    }
  }
}

/**
 * Return what a module declares under each name that it exports.
 *
 * @param {Node} program
 * @returns {Map<string, Node>}
 */
function exportsOf(program) {
  const found = new Map();
  for (const node of program.body) {
    if (node.type === 'ExportDefaultDeclaration') found.set('default', node.declaration);
    if (node.type !== 'ExportNamedDeclaration' || node.source !== null) continue;
    for (const { local, exported } of node.specifiers) found.set(nameOf(exported), local);
    const { declaration } = node;
    if (declaration?.id) found.set(declaration.id.name, declaration);
    for (const { id } of declaration?.declarations ?? []) {
      if (id.type === 'Identifier') found.set(id.name, id);
      else walk(id, (one) => one.type === 'Identifier' && found.set(one.name, one));
    }
  }
  return found;
}

/**
 * @template K, V
 * @param {Map<K, V[]>} lists
 * @param {K} key
 * @param {V} value
 */
export function addTo(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
