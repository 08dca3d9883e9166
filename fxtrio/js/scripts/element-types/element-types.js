/**
 * Functions that code reaches through elements: the `type` of an element is its component, whose
 * name and text are shortened in browsers.
 */

import { textOf } from '../elements/elements.js';
import { isWritten, MaybeElements, nameOf } from './maybe-elements.js';
import { MaybeProps } from './props.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */
/** @typedef {import('../code.js').Reason} Reason */

/** Properties of functions that are others in browsers. */
export const PROPERTIES = new Set(['length', 'name', 'toString', 'valueOf']);

const PASSED_ON = 'the type of an element that is passed on';

/** Where a value is compared, tested or shown, and its text is not read. */
const UNREAD = new Set([
  ...['UnaryExpression', 'IfStatement', 'SwitchStatement', 'SwitchCase', 'JSXExpressionContainer'],
  ...['MemberExpression', 'ExpressionStatement', 'Property'],
]);

export class ElementTypes {
  /**
   * @param {Module} module
   * @param {import('./names.js').Names} names of what may be an element in any module, or all that a
   *   component gets
   */
  constructor(module, names) {
    this.module = module;
    this.elements = new MaybeElements(module, () => names().elements);
    this.props = new MaybeProps(module, () => names().props);
  }

  /**
   * Reading a name or a text of whatever has a `type`, which data rarely does.
   *
   * @param {Node} node a member that is not computed, or is by a text
   * @returns {Reason[]}
   */
  ofMember(node) {
    const name = nameOf(node.property);
    if (PROPERTIES.has(name) && this.#isType(node.object)) {
      return [{ node, cause: `type.${name}` }];
    }
    const isPassedOn =
      name === 'type' && this.#isRead(node) && this.elements.isElement(node.object);
    return isPassedOn ? [{ node, cause: PASSED_ON }] : [];
  }

  /**
   * @param {Node} property of a pattern
   * @returns {Reason[]}
   */
  ofPattern(property) {
    if (!isWritten(property) || nameOf(property.key) !== 'type') return [];
    const bound = boundBy(property.value);
    if (bound.type === 'ObjectPattern') {
      return bound.properties
        .filter((/** @type {Node} */ one) => one.key && PROPERTIES.has(nameOf(one.key)))
        .map((/** @type {Node} */ one) => ({ node: one, cause: `type.${nameOf(one.key)}` }));
    }
    const variable = this.module.variableOf(bound);
    if (!variable || !this.elements.isFromElement(variable)) return [];
    return variable.references
      .map((/** @type {any} */ one) => one.identifier)
      .filter((/** @type {Node} */ one) => one !== bound && this.#isRead(one))
      .map((/** @type {Node} */ one) => ({ node: one, cause: PASSED_ON }));
  }

  /**
   * All properties of an element: as values, or in an object of their own.
   *
   * @param {Node} node a call, or what is spread
   * @returns {Reason[]}
   */
  ofAll(node) {
    const { callee, arguments: args, argument } = node;
    const isOfObject = callee !== undefined && this.isLister(callee);
    const whole = isOfObject ? args[0] : argument;
    const isInObject = isOfObject || this.elements.parentOf(node)?.type === 'ObjectExpression';
    if (!whole || !isInObject) return [];
    if (!this.elements.isElement(whole) && !(isOfObject && this.props.isElement(whole))) {
      return [];
    }
    return [{ node, cause: 'all properties of an element' }];
  }

  /** Whether a function lists all that an object has. @param {Node} node */
  isLister({ type, object, property }) {
    return (
      type === 'MemberExpression' &&
      object.name === 'Object' &&
      this.module.variableOf(object) === null &&
      /^(values|entries)$/.test(property.name)
    );
  }

  /** Whether a value is the `type` of something, or a name for it. @param {Node} node */
  #isType(node) {
    if (isMemberOf(node, 'type')) return true;
    const variable = node.type === 'Identifier' && this.module.variableOf(node);
    if (!variable) return false;
    const init = this.module.initOf(variable);
    return (init && isMemberOf(init, 'type')) || this.elements.keyOf(variable) === 'type';
  }

  /** Whether the text of a value may be read where it stands. @param {Node} node */
  #isRead(node) {
    const parent = this.elements.parentOf(node);
    if (parent?.type === 'JSXExpressionContainer' && this.#isOfComponent(parent)) return true;
    if (parent === undefined || UNREAD.has(parent.type)) {
      // As the value of a property it is stored, and as its key in a pattern it is not.
      return (
        parent?.type === 'Property' && parent.value === node && !this.elements.isInPattern(parent)
      );
    }
    if (parent.type === 'BinaryExpression') return !/^[!=]==?$/.test(parent.operator);
    if (parent.type === 'ConditionalExpression') return parent.test !== node;
    if (parent.type === 'AssignmentPattern') return parent.right === node;
    return true;
  }

  /**
   * Whether a component gets a value, as an attribute or a child. Elements of HTML leave out functions.
   *
   * @param {Node} container
   */
  #isOfComponent(container) {
    const around = this.elements.parentOf(container);
    const tag = around?.type === 'JSXAttribute' ? this.elements.parentOf(around) : around;
    const name = (tag?.openingElement ?? tag)?.name;
    return Boolean(name) && !/^[a-z][^.]*$/.test(textOf(name));
  }
}

/** @param {Node} value of a property of a pattern @returns {Node} */
function boundBy(value) {
  return value.type === 'AssignmentPattern' ? value.left : value;
}

/** @param {Node} node @param {string} name */
function isMemberOf(node, name) {
  return node.type === 'MemberExpression' && nameOf(node.property) === name;
}
