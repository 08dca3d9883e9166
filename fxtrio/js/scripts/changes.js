/**
 * Changes that outlast a render. A render may change what it has made itself; a variable or an object
 * that another render sees would make the page another one the second time, in the browser.
 */

import * as allowed from './allowed.js';
import { COPYING, CALLING, ITERATORS, MAKERS, MUTATING, OF_ARRAYS } from './allowed.js';
import { isPlainKey, isTable } from './keys.js';
import { ALL } from './module.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./module.js').Module} Module */
/** @typedef {import('./code.js').Reason} Reason */

const OTHERS = 'of an object that other renders may see';

/** Methods among them that return what they are called on, or a list of its own. */
const RETURNING_OWN = new Set(['add', 'copyWithin', 'fill', 'reverse', 'set', 'sort', 'splice']);

/** Methods that take a function, and behind it what that is called on: `list.map(table.get, table)`. */
const TAKING_THIS = new Set([
  ...['every', 'filter', 'find', 'findIndex', 'findLast', 'findLastIndex', 'flatMap', 'forEach'],
  ...['map', 'some'],
]);

export class Changes {
  /** The functions around the current node, the innermost last. @type {{ node: Node, isBrief: boolean }[]} */
  #functions = [];

  /** @param {Module} module */
  constructor(module) {
    this.module = module;
  }

  /**
   * @param {Node} node a function
   * @param {Node | null} parent
   */
  enter(node, parent) {
    this.#functions.push({ node, isBrief: this.isBrief(node, parent) });
  }

  leave() {
    this.#functions.pop();
  }

  /**
   * @param {Node} call
   * @param {Node | null} parent
   * @returns {Reason[]}
   */
  ofCall({ callee, arguments: args }, parent) {
    const called = withoutBrackets(callee);
    if (called.type !== 'MemberExpression') return [];
    const { object, property, computed } = called;
    if (computed && isTable(object, this.module) && !isPlainKey(property, this.module)) {
      return [{ node: property, cause: 'a method whose name is known only at run time' }];
    }
    const name = computed ? String(property.value) : property.name;
    const isStatic = this.#isGlobal(object);
    const self = args[this.#placeOfThis(object, name)];
    if (self) return [{ node: self, cause: `an object that ${name}() calls a method of` }];
    if (MUTATING.has(name) && !this.#isOwn(object)) {
      return [{ node: property, cause: `${name}() ${OTHERS}` }];
    }
    const isKnown = allowed.METHODS.has(name) || allowed.LEADING_OUT.has(name); // which has a reason
    if (!isStatic && !isKnown && !this.#isOfLibrary(object)) {
      return [{ node: property, cause: `${name}(), which is no method that is known` }];
    }
    if (ITERATORS.has(name) && !isStatic && !isReadAtOnce(parent)) {
      return [{ node: property, cause: `${name}() whose iterator is not read at once` }];
    }
    return [];
  }

  /**
   * Return at which place a method takes what a function is called on; -1 if it takes no such thing.
   *
   * @param {Node} object
   * @param {string} name of its method
   */
  #placeOfThis(object, name) {
    if (name === 'from' && object.name === 'Array') return 2;
    if (!TAKING_THIS.has(name) || this.#isNamespace(object)) return -1;
    return this.module.nameInReact(object) === 'Children' ? 2 : 1;
  }

  /**
   * @param {Node | null} target of an assignment
   * @returns {Reason[]}
   */
  ofTarget(target) {
    switch (target?.type) {
      case 'Identifier':
        return this.#isOfRender(target)
          ? []
          : [{ node: target, cause: `a change of '${target.name}', which other renders may see` }];
      case 'MemberExpression':
        return this.#ofMember(target);
      case 'ArrayPattern':
        return target.elements.flatMap((/** @type {Node | null} */ one) => this.ofTarget(one));
      case 'ObjectPattern':
        return target.properties.flatMap((/** @type {Node} */ one) =>
          this.ofTarget(one.value ?? one.argument),
        );
      case 'AssignmentPattern':
        return this.ofTarget(target.left);
      case 'RestElement':
        return this.ofTarget(target.argument);
      default:
        return [];
    }
  }

  /** @param {Node} target @returns {Reason[]} */
  #ofMember(target) {
    if (isDisplayName(target)) return [];
    const { object, property, computed } = target;
    if (!this.#isOwn(object)) return [{ node: target, cause: `a change ${OTHERS}` }];
    const isMethod = computed ? !isPlainKey(property, this.module) : OF_ARRAYS.has(property.name);
    return isMethod ? [{ node: property, cause: 'a property that may be taken for a method' }] : [];
  }

  /**
   * Whether nobody else has an object: the code around it has made it, for one render.
   *
   * @param {Node} object
   * @returns {boolean}
   */
  #isOwn(object) {
    switch (object.type) {
      case 'ArrayExpression':
      case 'ObjectExpression':
      case 'NewExpression':
        return true;
      case 'Identifier':
        return this.#isOfRender(object) && this.#isDeclaredAsOwn(object);
      case 'CallExpression':
        return this.#returnsOwn(object.callee);
      default:
        return false;
    }
  }

  /** @param {Node} identifier @returns {boolean} */
  #isDeclaredAsOwn(identifier) {
    const variable = this.module.variableOf(identifier);
    const init = this.module.initOf(variable);
    return (
      Boolean(init) && !this.module.isWritten(variable) && this.#isOwn(/** @type {Node} */ (init))
    );
  }

  /** @param {Node} callee @returns {boolean} */
  #returnsOwn({ type, object, property, computed }) {
    if (type !== 'MemberExpression' || computed || this.#isNamespace(object)) return false;
    if (this.#isGlobal(object)) return MAKERS.has(property.name);
    return COPYING.has(property.name) || (RETURNING_OWN.has(property.name) && this.#isOwn(object));
  }

  /**
   * Whether each call of the function that declares a variable has one of its own, and no function
   * that can be called later changes it.
   *
   * @param {Node} identifier
   */
  #isOfRender(identifier) {
    const variable = this.module.variableOf(identifier);
    if (!variable) return false;
    const { block } = variable.scope.variableScope;
    const at = this.#functions.findIndex(({ node }) => node === block);
    return at >= 0 && this.#functions.slice(at + 1).every(({ isBrief }) => isBrief);
  }

  /**
   * Whether a function is called where it stands, and by nobody later.
   *
   * @param {Node} node
   * @param {Node | null} parent
   */
  isBrief(node, parent) {
    if (parent?.type !== 'CallExpression' || !parent.arguments.includes(node)) return false;
    const { type, object, property, computed } = parent.callee;
    if (type !== 'MemberExpression' || computed || this.#isNamespace(object)) return false;
    if (this.#isGlobal(object)) return object.name === 'Array' && property.name === 'from';
    return CALLING.has(property.name);
  }

  /** @param {Node} node */
  #isGlobal(node) {
    return node.type === 'Identifier' && this.module.variableOf(node) === null;
  }

  /** Whether an object is all of a module, or a part of React. @param {Node} node */
  #isOfLibrary(node) {
    return this.#isNamespace(node) || this.module.nameInReact(node) !== undefined;
  }

  /** @param {Node} node */
  #isNamespace(node) {
    if (node.type !== 'Identifier') return false;
    const meaning = this.module.meaningOf(node);
    return meaning.kind === 'import' && meaning.name === ALL;
  }
}

/** @param {Node} node @returns {Node} */
function withoutBrackets(node) {
  const isAround = node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression';
  return isAround ? withoutBrackets(node.expression) : node;
}

/** Whether what a call returns is read by what stands around it. @param {Node | null} parent */
function isReadAtOnce(parent) {
  if (parent?.type === 'SpreadElement' || parent?.type === 'ForOfStatement') return true;
  if (parent?.type !== 'CallExpression') return false;
  const { object, property } = parent.callee;
  return object?.name === 'Array' && property.name === 'from';
}

/** @param {Node} target */
export function isDisplayName({ type, property, computed }) {
  return type === 'MemberExpression' && !computed && property.name === 'displayName';
}

/**
 * A regular expression that remembers where it stopped is another one for the next render.
 *
 * @param {Node} literal
 * @param {Node | null} parent
 * @returns {Reason[]}
 */
export function ofExpression(literal, parent) {
  const flags = literal.regex?.flags ?? '';
  if (!/[gy]/.test(flags)) return [];
  const isArgument = parent?.type === 'CallExpression' && parent.arguments.includes(literal);
  const method = isArgument ? parent.callee.property?.name : '';
  if (/^(match|matchAll|replace|replaceAll|split)$/.test(method)) return [];
  return [{ node: literal, cause: `a regular expression with '${flags}'` }];
}
