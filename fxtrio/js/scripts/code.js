/**
 * Why the code of a module needs scripts: what in it may do anything in a browser that it has not
 * done on the server already.
 *
 * Only what is on the lists of `allowed.js` is accepted. Code that uses nothing else can neither
 * reach the document nor keep anything from one render to the next, so it renders the same again.
 */

import * as allowed from './allowed.js';
import { Changes, ofExpression } from './changes.js';
import { isConstantOfBuild, isNaming, isSetter, isSetterName, isSetterUsed } from './constants.js';
import { ElementTypes } from './element-types/element-types.js';
import { elementReasons, textOf } from './elements/elements.js';
import { setHtmlProblem } from './elements/set-html.js';
import { textProblem } from './elements/texts.js';
import { Functions, isCallee, renamedSlots } from './functions.js';
import { partsOfIslands } from './islands/parts.js';
import { elementOf, isIsland, islandsOf } from './islands/islands.js';
import { isPlainKey, isTable } from './keys.js';
import { LIBRARIES, Meanings } from './module.js';
import { elementOfClient } from './nesting/across.js';
import { Nesting } from './nesting/nesting.js';
import { isBlank, misplacedValues } from './nesting/tables.js';
import { openResults } from './results.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./module.js').Meaning} Meaning */
/** @typedef {import('./module.js').Module} Module */
/** `ofIslands`: only with islands. @typedef {{ node: Node, cause: string, ofIslands?: boolean }} Reason */

const UNKNOWN_KEY = 'a property whose name is known only at run time';

/**
 * Return the reasons that one module has of its own, in the order of its text.
 *
 * @param {Module} module
 * @param {(specifier: string, name: string) => Meaning} resolve what an import of the project means
 * @param {import('./element-types/names.js').Names} names of what may be an element in any module
 * @returns {Reason[]}
 */
export function codeReasons(module, resolve, names) {
  const looker = new Looker(module, resolve, names);
  if (module.isUnread) looker.add(module.program, 'code that cannot be analyzed');
  // Elements are then calls of another function, of which nothing here is known.
  if (/@jsx/.test(module.text)) looker.add(module.program, 'a comment with @jsx');
  for (const node of module.program.body) looker.lookAtStatement(node);
  looker.walk(module.program, null);
  return looker.reasons.sort((one, other) => one.node.start - other.node.start);
}

class Looker {
  /** @type {Reason[]} */
  reasons = [];
  /** Where the last `<Head>` ends, which writes its titles itself. */
  headEnd = 0;

  /**
   * @param {Module} module
   * @param {(specifier: string, name: string) => Meaning} resolve
   * @param {import('./element-types/names.js').Names} names
   */
  constructor(module, resolve, names) {
    this.module = module;
    this.changes = new Changes(module);
    this.nesting = new Nesting();
    this.elementTypes = new ElementTypes(module, names);
    this.meanings = new Meanings(module, resolve);
    this.functions = new Functions(module, this.changes, (name) => this.meanings.of(name));
    const { sites } = islandsOf(module.program, (name) => module.importOf(name));
    /** The elements of islands, and the tags of their components. @type {Set<Node>} */
    this.islands = new Set(sites.flatMap(({ element, tag }) => [element, tag]));
  }

  /**
   * @param {Node} node
   * @param {string} cause
   */
  add(node, cause) {
    this.reasons.push({ node, cause });
  }

  /**
   * What runs when a module is loaded, besides declarations, is there for its effect alone.
   *
   * @param {Node} node of the top level
   */
  lookAtStatement(node) {
    if (/^(Import|Export|Function|Variable|Class|Empty)/.test(node.type)) return;
    if (node.directive || isNaming(node) || isSetter(node, this.module)) return;
    this.add(node, 'code that runs when the module is loaded');
  }

  /**
   * @param {Node} node
   * @param {Node | null} parent
   */
  walk(node, parent) {
    if (isConstantOfBuild(node) || isSetter(node, this.module)) return;
    if (!allowed.SYNTAX.has(node.type)) {
      this.add(node, allowed.SYNTAX_NAMES[node.type] ?? node.type);
      return;
    }
    const isFunction = /Function/.test(node.type);
    this.reasons.push(...this.functions.ofValue(node, parent));
    if (isFunction) this.changes.enter(node, parent);
    this.lookAt(node, parent);
    for (const value of Object.values(node)) {
      for (const part of Array.isArray(value) ? value : [value]) {
        if (typeof part?.type === 'string') this.walk(part, node);
      }
    }
    if (isFunction) this.changes.leave();
    if (node.type === 'JSXElement') this.nesting.leave();
  }

  /**
   * @param {Node} node
   * @param {Node | null} parent
   */
  lookAt(node, parent) {
    this.reasons.push(...partsOfIslands(node, parent));
    switch (node.type) {
      case 'Identifier':
        return this.lookAtName(node, parent);
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ExportNamedDeclaration':
        return this.lookAtImport(node);
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return this.lookAtFunction(node);
      case 'MemberExpression':
        return this.lookAtMember(node, parent);
      case 'Property':
        return this.lookAtProperty(node, parent);
      case 'CallExpression':
        this.reasons.push(...this.elementTypes.ofAll(node), ...openResults(node, this.module));
        return void this.reasons.push(...this.changes.ofCall(node, parent));
      case 'SpreadElement':
        return void this.reasons.push(...this.elementTypes.ofAll(node));
      case 'NewExpression':
        return this.lookAtNew(node);
      case 'ForOfStatement':
        if (node.await) this.add(node, 'await');
        return void this.reasons.push(...this.changes.ofTarget(node.left));
      case 'AssignmentExpression':
        if (node.operator === '**=') this.add(node, '**');
        return void this.reasons.push(...this.changes.ofTarget(node.left));
      case 'ForInStatement':
        return void this.reasons.push(...this.changes.ofTarget(node.left));
      case 'UpdateExpression':
        return void this.reasons.push(...this.changes.ofTarget(node.argument));
      case 'UnaryExpression':
        return node.operator === 'delete' ? this.add(node, 'delete') : undefined;
      case 'BinaryExpression':
        return node.operator === '**' ? this.add(node, '**') : undefined;
      case 'Literal':
        return void this.reasons.push(...ofExpression(node, parent));
      case 'JSXOpeningElement':
        return this.lookAtElement(node);
      case 'JSXElement':
        return this.lookAtWhole(node);
      case 'JSXSpreadChild':
        return this.add(node, 'children that are spread');
      default:
        return undefined;
    }
  }

  /**
   * @param {Node} node
   * @param {Node | null} parent
   */
  lookAtName(node, parent) {
    const variable = this.module.variableOf(node);
    if (variable === undefined) return; // the name of a property, or of what is declared here
    const { name } = node;
    const isObject = parent?.type === 'MemberExpression' && parent.object === node;
    if (variable !== null) {
      if (name === 'arguments') this.add(node, name);
      const whole =
        isObject || /^Import/.test(parent?.type ?? '') ? '' : this.meanings.wholeOf(node);
      if (whole !== '') this.add(node, `all of '${whole}'`);
      if (isSetterUsed(node, parent, this.module)) this.add(node, name);
      this.reasons.push(...this.functions.ofName(node, parent));
    } else if (isObject) {
      const isListed = !parent.computed && allowed.isReadable(name, parent.property.name);
      if (!isListed) this.add(node, name);
    } else if (!allowed.CONSTANTS.has(name) && !allowed.FUNCTIONS.has(name)) {
      const isConstructed = parent?.type === 'NewExpression' && parent.callee === node;
      if (!isConstructed || !allowed.CONSTRUCTORS.has(name)) this.add(node, name);
    }
  }

  /** @param {Node} node an import, or an export that may be one */
  lookAtImport(node) {
    const specifier = node.source?.value;
    if (node.exported) this.add(node, `all of '${specifier}'`);
    this.reasons.push(...renamedSlots(node));
    if (specifier === undefined || !Object.hasOwn(LIBRARIES, specifier)) return;
    if (node.type !== 'ImportDeclaration') this.add(node, `an export from '${specifier}'`);
    for (const one of node.specifiers ?? []) {
      if (one.type !== 'ImportSpecifier') continue; // what is used of it is looked at where it is
      const name = one.imported.name ?? one.imported.value;
      if (!LIBRARIES[specifier].has(name) && !isSetterName(specifier, name)) this.add(one, name);
    }
  }

  /** @param {Node} node */
  lookAtFunction(node) {
    if (node.async) this.add(node, 'an async function');
    else if (node.generator) this.add(node, 'a generator');
  }

  /**
   * @param {Node} node
   * @param {Node | null} parent
   */
  lookAtMember(node, parent) {
    this.reasons.push(...this.functions.ofName(node, parent));
    const { object, property, computed } = node;
    const library = object.type === 'Identifier' ? this.meanings.libraryOf(object) : undefined;
    if (library !== undefined) {
      const isListed = !computed && LIBRARIES[library].has(property.name);
      if (!isListed) this.add(node, computed ? library : property.name);
    } else if (this.elementTypes.isLister(node) && !isCallee(node, parent)) {
      this.add(node, `Object.${property.name} that is passed on`);
    } else if (computed && !isPlainKey(property, this.module)) {
      if (!isTable(object, this.module)) this.add(property, UNKNOWN_KEY);
    } else {
      if (!computed) this.lookAtKey(property);
      this.reasons.push(...this.elementTypes.ofMember(node));
    }
  }

  /** @param {Node} key */
  lookAtKey(key) {
    const name = key.name ?? String(key.value);
    if (allowed.LEADING_OUT.has(name)) this.add(key, name);
  }

  /**
   * @param {Node} node of an object or a pattern
   * @param {Node | null} parent
   */
  lookAtProperty(node, parent) {
    const { key, value, computed } = node;
    if (computed && !isPlainKey(key, this.module)) {
      this.add(key, UNKNOWN_KEY);
      return;
    }
    if (parent?.type === 'ObjectPattern') {
      this.lookAtKey(key);
      this.reasons.push(...this.elementTypes.ofPattern(node));
    } else this.lookAtMethod(key.name ?? String(key.value), key, value);
  }

  /**
   * What is taken for a method of arrays must not be a function of the application.
   *
   * @param {string} name
   * @param {Node} node
   * @param {Node | null} value
   */
  lookAtMethod(name, node, value) {
    if (name === '__proto__') this.add(node, name);
    const isText = value === null || value.type === 'Literal';
    if (allowed.OF_ARRAYS.has(name) && !isText) this.add(node, `a property '${name}'`);
  }

  /** @param {Node} node */
  lookAtNew({ callee }) {
    const isGlobal = callee.type === 'Identifier' && this.module.variableOf(callee) === null;
    if (!isGlobal) this.add(callee, 'new');
  }

  /** @param {Node} node an element with its children */
  lookAtWhole(node) {
    const { name } = node.openingElement;
    const meaning = this.meanings.ofTag(name);
    const own = isIsland(meaning) ? elementOf(node.openingElement) : elementOfClient(meaning);
    const element = meaning === undefined ? textOf(name) : own;
    if (element === null || (isIsland(meaning) && !this.islands.has(node))) {
      this.add(name, 'an <Island> whose component or element is unknown');
    }
    if (element === 'iframe' && !node.children.every(isBlank)) {
      this.add(name, 'children of <iframe>');
    }
    const reasons = this.nesting.enter(name, element ?? '');
    this.reasons.push(...reasons, ...misplacedValues(node, element ?? '', this.module));
    if (meaning === undefined && element !== null) {
      const set = setHtmlProblem(node.openingElement, element, this.nesting.outer(), this.module);
      if (set !== '') this.add(name, set);
      const isInHead = element === 'title' && node.start < this.headEnd;
      const text = isInHead ? '' : textProblem(node, element, this.nesting.outer(), this.module);
      if (text !== '') this.add(name, text);
    }
    if (meaning?.kind === 'import' && meaning.name === 'Head') this.headEnd = node.end;
    this.reasons.push(...this.functions.ofChildren(node, meaning));
  }

  /** @param {Node} tag */
  lookAtElement(tag) {
    const { name, attributes } = tag;
    const meaning = this.meanings.ofTag(name);
    if (
      name.property &&
      meaning?.kind === 'import' &&
      !LIBRARIES[meaning.specifier].has(meaning.name)
    ) {
      this.add(name.property, meaning.name);
    }
    if (meaning === null) this.add(name, name.name);
    else if (!this.islands.has(tag)) this.reasons.push(...elementReasons(tag, meaning));
    if (meaning === undefined) return;
    for (const one of attributes) {
      if (one.type !== 'JSXAttribute') continue;
      const inner = one.value?.type === 'JSXExpressionContainer' ? one.value.expression : one.value;
      this.lookAtMethod(textOf(one.name), one, inner);
      this.reasons.push(...this.functions.ofAttribute(inner));
    }
  }
}
