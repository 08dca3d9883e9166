/**
 * Functions that code reaches through elements: the `type` of an element is its component, whose
 * name and text are shortened in browsers.
 *
 * What may be an element is looked for within one module: what is written down, children, and what
 * a function of the module gets.
 */

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./module.js').Module} Module */
/** @typedef {import('./code.js').Reason} Reason */

/** Properties of functions that are others in browsers. */
export const PROPERTIES = new Set(['length', 'name', 'toString', 'valueOf']);

const PASSED_ON = 'the type of an element that is passed on';
const SEARCHED = 6; // names that lead to others: more of them count as an element

/** Where a value is compared, tested or shown, and its text is not read. */
const UNREAD = new Set([
  ...['UnaryExpression', 'IfStatement', 'SwitchStatement', 'SwitchCase', 'JSXExpressionContainer'],
  ...['MemberExpression', 'ExpressionStatement', 'Property'],
]);

export class ElementTypes {
  /** What is around each node; found when it is needed first. @type {Map<Node, Node> | undefined} */
  #around;

  /** @param {Module} module */
  constructor(module) {
    this.module = module;
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
    const isPassedOn = name === 'type' && this.#isRead(node) && this.#isElement(node.object);
    return isPassedOn ? [{ node, cause: PASSED_ON }] : [];
  }

  /**
   * @param {Node} property of a pattern
   * @returns {Reason[]}
   */
  ofPattern(property) {
    if (property.computed || nameOf(property.key) !== 'type') return [];
    const bound = boundBy(property.value);
    if (bound.type === 'ObjectPattern') {
      return bound.properties
        .filter((/** @type {Node} */ one) => one.key && PROPERTIES.has(nameOf(one.key)))
        .map((/** @type {Node} */ one) => ({ node: one, cause: `type.${nameOf(one.key)}` }));
    }
    const variable = this.module.variableOf(bound);
    if (!variable || !this.#isFromElement(variable)) return [];
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
    const { callee, arguments: given, argument } = node;
    const isOfObject =
      callee?.object?.name === 'Object' && /^(values|entries)$/.test(callee.property.name);
    const whole = isOfObject ? given[0] : argument;
    const isInObject = isOfObject || this.#parentOf(node)?.type === 'ObjectExpression';
    if (!whole || !isInObject || !this.#isElement(whole)) return [];
    return [{ node, cause: 'all properties of an element' }];
  }

  /** Whether a value is the `type` of something, or a name for it. @param {Node} node */
  #isType(node) {
    if (isMemberOf(node, 'type')) return true;
    const variable = node.type === 'Identifier' && this.module.variableOf(node);
    if (!variable) return false;
    const init = this.module.initOf(variable);
    return (init && isMemberOf(init, 'type')) || this.#keyOf(variable) === 'type';
  }

  /** Whether the text of a value may be read where it stands. @param {Node} node */
  #isRead(node) {
    const parent = this.#parentOf(node);
    if (parent === undefined || UNREAD.has(parent.type)) {
      // As the value of a property it is stored, and as its key in a pattern it is not.
      return parent?.type === 'Property' && parent.value === node && !this.#isInPattern(parent);
    }
    if (parent.type === 'BinaryExpression') return !/^[!=]==?$/.test(parent.operator);
    if (parent.type === 'ConditionalExpression') return parent.test !== node;
    if (parent.type === 'AssignmentPattern') return parent.right === node;
    return true;
  }

  /** @param {Node} property */
  #isInPattern(property) {
    return this.#parentOf(property)?.type === 'ObjectPattern';
  }

  /**
   * Whether a value may be an element, or a list of them.
   *
   * @param {Node} node
   * @param {number} [depth] of names that have led here
   * @returns {boolean}
   */
  #isElement(node, depth = 0) {
    if (depth > SEARCHED) return true;
    const isOne = (/** @type {Node | null} */ one) => one !== null && this.#isElement(one, depth);
    switch (node.type) {
      case 'JSXElement':
      case 'JSXFragment':
        return true;
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return isOne(node.expression);
      case 'ConditionalExpression':
        return isOne(node.consequent) || isOne(node.alternate);
      case 'LogicalExpression':
        return isOne(node.left) || isOne(node.right);
      case 'ArrayExpression':
        return node.elements.some(isOne);
      case 'SpreadElement':
        return isOne(node.argument);
      case 'ArrowFunctionExpression':
        return isOne(node.body);
      case 'MemberExpression':
        return nameOf(node.property) === 'children' || isOne(node.object);
      case 'CallExpression':
        return isOne(node.callee) || node.arguments.some(isOne);
      case 'Identifier':
        return this.#isNameOfElement(node, depth + 1);
      default:
        return false;
    }
  }

  /**
   * @param {Node} identifier
   * @param {number} depth
   */
  #isNameOfElement(identifier, depth) {
    const variable = this.module.variableOf(identifier);
    if (!variable) return false;
    const init = this.module.initOf(variable);
    return init ? this.#isElement(init, depth) : this.#isFromElement(variable, depth);
  }

  /**
   * Whether a parameter, or a part of a pattern, may be of an element.
   *
   * @param {any} variable
   * @param {number} [depth]
   * @returns {boolean}
   */
  #isFromElement(variable, depth = 0) {
    if (variable.defs.length !== 1) return false;
    const [{ type, node, name }] = variable.defs;
    if (type === 'Variable') {
      const list = node.init ?? this.#parentOf(/** @type {Node} */ (this.#parentOf(node)))?.right;
      return Boolean(list) && this.#isElement(list, depth + 1);
    }
    if (type !== 'Parameter') return false;
    const key = this.#keyOf(variable);
    if (key === 'children' || (key && this.#isGiven(key))) return true;
    const index = node.params.findIndex((/** @type {Node} */ one) => contains(one, name));
    return this.#callsOf(node).some(({ callee, arguments: given }) => {
      const others = given.filter((/** @type {Node} */ one) => one !== node);
      const seen =
        others.length < given.length ? [callee, ...others] : given.slice(index, index + 1);
      return seen.some((/** @type {Node} */ one) => this.#isElement(one, depth + 1));
    });
  }

  /**
   * Return the calls that a function is called by, or passed to.
   *
   * @param {Node} node
   * @returns {Node[]}
   */
  #callsOf(node) {
    const parent = this.#parentOf(node);
    if (parent?.type === 'CallExpression') return [parent];
    const named = node.id ?? (parent?.type === 'VariableDeclarator' ? parent.id : null);
    const variable = named && this.module.variableOf(named);
    return (variable?.references ?? [])
      .map((/** @type {any} */ one) => this.#parentOf(one.identifier))
      .filter((/** @type {Node | undefined} */ one) => one?.type === 'CallExpression');
  }

  /**
   * Whether an element of the module gets one under a name: `icon={<Icon />}`.
   *
   * @param {string} name
   */
  #isGiven(name) {
    return [...this.#parents().keys()].some(
      (node) =>
        node.type === 'JSXAttribute' &&
        node.name.name === name &&
        /^JSX(Element|Fragment)$/.test(node.value?.expression?.type ?? ''),
    );
  }

  /** Return the key under which a pattern finds a variable; "" without one. @param {any} variable */
  #keyOf(variable) {
    const name = variable.defs[0]?.name;
    let parent = name && this.#parentOf(name);
    if (parent?.type === 'AssignmentPattern') parent = this.#parentOf(parent);
    const isKey = parent?.type === 'Property' && this.#isInPattern(parent) && !parent.computed;
    return isKey ? nameOf(parent.key) : '';
  }

  /** @param {Node} node @returns {Node | undefined} */
  #parentOf(node) {
    return this.#parents().get(node);
  }

  #parents() {
    if (this.#around === undefined) {
      this.#around = new Map();
      collect(this.module.program, this.#around);
    }
    return this.#around;
  }
}

/**
 * @param {Node} node
 * @param {Map<Node, Node>} parents
 */
function collect(node, parents) {
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (typeof part?.type !== 'string') continue;
      parents.set(part, node);
      collect(part, parents);
    }
  }
}

/** @param {Node} node @param {Node} inner @returns {boolean} */
function contains(node, inner) {
  return node.start <= inner.start && inner.end <= node.end;
}

/** @param {Node} value of a property of a pattern @returns {Node} */
function boundBy(value) {
  return value.type === 'AssignmentPattern' ? value.left : value;
}

/** @param {Node} node @param {string} name */
function isMemberOf(node, name) {
  return node.type === 'MemberExpression' && nameOf(node.property) === name;
}

/** @param {Node} property the name of a member, or the text in brackets */
function nameOf(property) {
  return property.name ?? property.value;
}
