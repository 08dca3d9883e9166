/**
 * What a value shows, followed to where that is written: names, members and calls, the children and the
 * other properties that a component is given.
 */

import { COPYING, MAKERS } from '../allowed.js';
import { isFunction, nameOf, returnedBy } from '../element-types/maybe-elements.js';
import { isLibrary } from '../module.js';
import { AWAY, Findings } from './findings.js';
import { leakingIn } from './leaking.js';
import { isBlank, isHidden } from './tables.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('./sources.js').Place} Place */
/** @typedef {import('./sources.js').Sources} Sources */
/** @typedef {import('./findings.js').At} At */

/** Functions whose result is a text or a number. */
const OF_TEXT =
  /^(BigInt|Boolean|Number|String|decodeURI|encodeURI|isFinite|isNaN|parse(Float|Int))/;

/** Methods that return lists of what they are called on, or of what a function returns. */
const LISTS = new Set([...COPYING, ...MAKERS]);

export class Values extends Findings {
  /** @type {[Node, At][]} */
  #waiting = [];
  #isBusy = false;
  /** Pages and layouts that a layout has as its children, by its function. @type {Map<Node, Place[]>} */
  inLayouts = new Map();

  /** @param {Sources} sources */
  constructor(sources) {
    super();
    this.sources = sources;
  }

  /**
   * Look at an element and what it shows.
   *
   * @abstract
   * @param {Node} _node
   * @param {At} _at
   */
  showElement(_node, _at) {}

  /**
   * Look at what a component shows.
   *
   * @abstract
   * @param {Place} _place
   * @param {At} _at
   */
  showComponent(_place, _at) {}

  /** Found when it is needed first. @type {Set<Node> | undefined} */
  #leaking;

  #leakingOnes() {
    this.#leaking ??= leakingIn(this.sources);
    return this.#leaking;
  }

  /**
   * Look at all that an expression may show: after what waits already, since names and components lead
   * deeper than calls can.
   *
   * @param {Node | null | undefined} node
   * @param {At} at
   */
  show(node, at) {
    if (!node || !this.isNew(node, at)) return;
    this.#waiting.push([node, at]);
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) this.#showNow(...next);
    this.#isBusy = false;
  }

  /** @param {Node} node @param {At} at @returns {void} */
  #showNow(node, at) {
    const show = (/** @type {Node | null} */ one) => this.show(one, at);
    switch (node.type) {
      case 'JSXText':
      case 'Literal':
        return isBlank(node) ? undefined : this.addText(at);
      case 'JSXElement':
        return this.showElement(node, at);
      case 'JSXFragment':
        return node.children.forEach(show);
      case 'JSXExpressionContainer':
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return show(node.expression);
      case 'ConditionalExpression':
        show(node.consequent);
        return show(node.alternate);
      case 'LogicalExpression':
        if (node.operator !== '&&' || !isHidden(node.left, this.sources.moduleOf(at.file))) {
          show(node.left);
        }
        return show(node.right);
      case 'ArrayExpression':
        return node.elements.forEach(show);
      case 'ObjectExpression':
        return node.properties.forEach((/** @type {Node} */ one) =>
          show(one.value ?? one.argument),
        );
      case 'SpreadElement':
        return show(node.argument);
      case 'SequenceExpression':
        return show(node.expressions.at(-1));
      case 'AssignmentExpression':
        return show(node.right);
      case 'NewExpression':
        return node.arguments.forEach(show);
      case 'CallExpression':
        return this.#showCall(node, at);
      case 'MemberExpression':
        return this.#showMember(node, at);
      case 'Identifier':
        return this.#showName(node, at);
      default:
        return isFunction(node) || node.type === 'JSXEmptyExpression'
          ? undefined
          : this.addText(at);
    }
  }

  /** @param {Node} node a function, whose result is shown @param {At} at */
  showReturned(node, at) {
    if (!this.isNew(node, at)) return;
    if (node.body.type !== 'BlockStatement') this.show(node.body, at);
    else for (const one of returnedBy(node.body)) this.show(one, at);
  }

  /** @param {Node} node @param {At} at */
  #showCall({ callee, arguments: args }, at) {
    const { file } = at;
    const module = this.sources.moduleOf(file);
    const inReact = module.nameInReact(callee);
    if (inReact === 'useContext') return this.#showPassed('value', at);
    const called = this.sources.functionOf({ file, node: callee });
    if (called) return this.showReturned(called.node, { ...at, file: called.file, ...AWAY });
    const isMethod = callee.type === 'MemberExpression';
    const [first] = isMethod ? [callee.object] : [callee];
    const variable = first.type === 'Identifier' ? module.variableOf(first) : undefined;
    const meaning = variable ? module.meaningOf(first) : undefined;
    const isOfLibrary = meaning?.kind === 'import' && isLibrary(meaning.specifier);
    if (variable === null && OF_TEXT.test(first.name)) return this.addText(at, 'a value');
    if (isMethod && !isOfLibrary && variable !== null) {
      this.show(first, { ...at, isQuiet: true });
    } else if (!isMethod && !isOfLibrary && variable !== null) {
      // What is imported from no module has a reason of its own.
      const isKnown = meaning?.kind !== 'import' || this.sources.isOfModule({ file, node: first });
      return isKnown ? this.addUnknown(at, 'what a function returns') : undefined;
    }
    const name = isMethod ? String(nameOf(callee.property)) : '';
    if (isOfLibrary && name === 'count') return this.addText(at, 'a value');
    for (const one of args) {
      const passed = this.sources.functionOf({ file, node: one });
      if (isFunction(one)) this.showReturned(one, at);
      else if (passed) this.showReturned(passed.node, { ...at, file: passed.file, ...AWAY });
      else this.show(one, { ...at, isQuiet: true });
    }
    if (!isOfLibrary && !LISTS.has(name)) this.addText(at, 'a value');
    return undefined;
  }

  /** @param {Node} node @param {At} at @returns {void} */
  #showMember(node, at) {
    const { file } = at;
    const exported = this.sources.memberOfModule(file, node);
    if (exported) return this.show(exported.node, { ...at, file: exported.file, ...AWAY });
    const { object, property, computed } = node;
    if (computed && typeof property.value !== 'string') {
      this.show(object, { ...at, isQuiet: true });
      return this.addText(at, 'a value');
    }
    return this.#showKey(String(nameOf(property)), { file, node: object }, at);
  }

  /**
   * Look at what an object may have under a key.
   *
   * @param {string} key
   * @param {Place} object
   * @param {At} at
   */
  #showKey(key, object, at) {
    if (key === 'props') return this.addUnknown(at, 'a part of an element');
    this.#showPassed(key, at);
    return key === 'children' ? this.#showOwned(object, at) : this.addText(at, 'a value');
  }

  /** Look at the children of all that an object may be. @param {Place} object @param {At} at */
  #showOwned(object, at) {
    for (const one of [...this.sources.ownersOf(object), ...this.#leakingOnes()]) {
      if (one) this.#showChildren(one, at);
      else this.addUnknown(at, 'a part of an element');
    }
  }

  /** @param {string} name of an attribute or a property @param {At} at */
  #showPassed(name, at) {
    if (!this.isNewAnywhere(`=${name}`, at)) return;
    for (const place of this.sources.passed.get(name) ?? []) {
      this.show(place.node, { ...at, file: place.file, blamed: place, use: null, ...AWAY });
    }
  }

  /** @param {Node} node @param {At} at */
  #showName(node, at) {
    const { file } = at;
    const module = this.sources.moduleOf(file);
    const variable = module.variableOf(node);
    const away = { ...at, ...AWAY };
    for (const { init, writeExpr } of variable?.references ?? []) {
      if (!init && writeExpr) this.show(writeExpr, away);
    }
    for (const definition of variable?.defs ?? []) {
      if (definition.type === 'ImportBinding') {
        const found = this.sources.imported(file, node);
        if (found) this.show(found.node, { ...away, file: found.file });
        else if (this.sources.isOfModule({ file, node })) this.addUnknown(at, node.name);
        else this.addText(at, 'a value');
      } else if (definition.type === 'Parameter') this.#showParameter(definition, away);
      else if (definition.type === 'Variable') this.#showDeclared(definition, away);
    }
  }

  /** What code adds to lists. @param {At} at */
  #showAdded(at) {
    for (const { node } of this.sources.added.get(at.file) ?? []) this.show(node, at);
  }

  /** What a pattern has where a value is missing. @param {Node} name @param {At} at */
  #showDefault(name, at) {
    const parent = this.sources.parentOf({ file: at.file, node: name });
    if (parent?.type === 'AssignmentPattern' && parent.left === name) this.show(parent.right, at);
  }

  /** @param {any} definition of a variable @param {At} at */
  #showDeclared({ node, name }, at) {
    const { file } = at;
    const declaration = this.sources.parentOf({ file, node });
    const loop = declaration && this.sources.parentOf({ file, node: declaration });
    const value = node.init ?? (/^For(Of|In)/.test(loop?.type ?? '') ? loop?.right : null);
    if (!value) return;
    const keys = this.sources.keysOf({ file, node: name });
    this.#showDefault(name, at);
    if (node.id.type === 'Identifier' && node.init) this.show(value, at);
    else this.#showBound(keys, { file, node: value }, at);
    if (/^(Array|Object|New|Call|Identifier)/.test(value.type)) {
      this.#showAdded(at);
    }
  }

  /**
   * Look at what a pattern finds in a value.
   *
   * @param {string[]} keys the innermost first
   * @param {Place} value
   * @param {At} at
   */
  #showBound(keys, value, at) {
    if (keys.includes('props')) return this.addUnknown(at, 'a part of an element');
    if (keys.length > 0 && keys[0] !== '') return this.#showKey(keys[0], value, at);
    this.show(value.node, { ...at, isQuiet: true });
    return this.addText(at, 'a value');
  }

  /** @param {any} definition of a parameter @param {At} at */
  #showParameter({ node, name }, at) {
    const { file } = at;
    const { uses, calls } = this.sources;
    const keys = this.sources.keysOf({ file, node: name });
    this.#showDefault(name, at);
    if (keys[0] === 'children' && !keys.includes('props')) return this.#showChildren(node, at);
    if (keys.length > 0 && keys[0] !== '') return this.#showBound(keys, { file, node: name }, at);
    if (this.sources.consumers.has(node)) this.#showPassed('value', at);
    if (uses.has(node) || this.inLayouts.has(node)) this.addUnknown(at, 'all properties');
    for (const call of calls.get(node) ?? []) {
      const { callee, arguments: args } = call.node;
      const inside = { ...at, file: call.file, use: null, isQuiet: true };
      const isPassed = this.sources.functionOf({ file: call.file, node: callee })?.node !== node;
      if (isPassed && callee.type === 'MemberExpression') this.show(callee.object, inside);
      for (const one of args) this.show(one, inside);
    }
    this.#showAdded(at);
    return this.addText(at, 'a value');
  }

  /** @param {Node} component a function @param {At} at */
  #showChildren(component, at) {
    const { use } = at;
    if (use?.component === component) {
      this.#showPassedTo(use.site, { ...at, use: use.outer });
      return;
    }
    if (!this.isNewAnywhere(`>${this.numberOf(component)}`, at)) return;
    const inside = { ...at, use: null };
    for (const one of this.sources.uses.get(component) ?? []) this.#showPassedTo(one, inside);
    for (const one of this.inLayouts.get(component) ?? []) {
      this.showComponent(one, { ...inside, blamed: one });
    }
    const calls = this.sources.calls.get(component) ?? [];
    if (calls.length > 0 || this.sources.consumers.has(component)) {
      this.#showPassed('children', inside);
      for (const one of this.#leakingOnes()) this.#showChildren(one, inside);
    }
    for (const { file, node } of calls) {
      const parts = [node.callee.object, ...node.arguments].filter(
        (one) => one && !isFunction(one),
      );
      const blamed = { file, node };
      for (const one of parts) this.#showOwned({ file, node: one }, { ...inside, blamed });
    }
  }

  /** @param {Place} site an element, whose children are shown @param {At} at */
  #showPassedTo({ file, node }, at) {
    if (!this.isNew(node.openingElement, at)) return;
    const { children, openingElement } = node;
    const away = { ...at, file, ...AWAY };
    for (const one of children) this.show(one, { ...away, blamed: { file, node: one } });
    for (const one of openingElement.attributes) {
      const inside = { ...away, blamed: { file, node: one } };
      if (one.name?.name === 'children') this.show(one.value, inside);
      if (one.type !== 'JSXSpreadAttribute' || !children.every(isBlank)) continue;
      this.#showKey('children', { file, node: one.argument }, inside);
    }
  }
}
