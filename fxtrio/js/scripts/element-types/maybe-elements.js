/**
 * Which values of a module may be elements, lists of them, or functions and objects that lead to them:
 * what is written down as one, children, what a function of the module gets, and what any module gives
 * or exports under the same name.
 */

import { MUTATING } from '../allowed.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */

const SEARCHED = 6; // names that lead to others: more of them count as an element

export class MaybeElements {
  /** What is around each node; found when it is needed first. @type {Map<Node, Node> | undefined} */
  #around;
  /** The variables that are being looked at: none of them makes itself an element. @type {Set<any>} */
  #searched = new Set();

  /**
   * @param {Module} module
   * @param {() => ReadonlySet<string>} names of what may be an element in any module (`names.js`)
   */
  constructor(module, names) {
    this.module = module;
    this.names = names;
  }

  /**
   * Whether a value may be an element, or a list of them.
   *
   * @param {Node} node
   * @param {number} [depth] of names that have led here
   * @returns {boolean}
   */
  isElement(node, depth = 0) {
    if (depth > SEARCHED) return true;
    const isOne = (/** @type {Node | null} */ one) => one !== null && this.isElement(one, depth);
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
      case 'SequenceExpression':
        return isOne(node.expressions.at(-1));
      case 'AssignmentExpression':
        return isOne(node.right);
      case 'ObjectExpression':
        return node.properties.some((/** @type {Node} */ one) => isOne(one.value ?? one.argument));
      case 'ArrowFunctionExpression':
        return node.body.type === 'BlockStatement'
          ? returnedBy(node.body).some(isOne)
          : isOne(node.body);
      case 'FunctionExpression':
      case 'FunctionDeclaration':
        return returnedBy(node.body).some(isOne);
      case 'MemberExpression':
        return this.names().has(nameOf(node.property)) || isOne(node.object);
      case 'NewExpression':
        return node.arguments.some(isOne);
      case 'CallExpression':
        return this.#isCallOfElement(node) || isOne(node.callee) || node.arguments.some(isOne);
      case 'Identifier':
        return this.#isNameOfElement(node, depth + 1);
      default:
        return false;
    }
  }

  /**
   * Whether a call returns what other modules make an element, or what React makes of a component.
   *
   * @param {Node} call
   */
  #isCallOfElement({ callee }) {
    const inReact = this.module.nameInReact(callee);
    if (inReact === 'memo') return true;
    return this.names().has(inReact === 'useContext' ? 'value' : `${this.declaredName(callee)}()`);
  }

  /**
   * @param {Node} identifier
   * @param {number} depth
   */
  #isNameOfElement(identifier, depth) {
    const variable = this.module.variableOf(identifier);
    if (!variable || this.#searched.has(variable)) return false;
    if (variable.defs[0]?.type === 'ImportBinding') {
      return this.names().has(this.declaredName(identifier));
    }
    this.#searched.add(variable);
    const isElement = this.#isVariableOfElement(variable, depth);
    this.#searched.delete(variable);
    return isElement;
  }

  /**
   * @param {any} variable
   * @param {number} depth
   * @returns {boolean}
   */
  #isVariableOfElement(variable, depth) {
    const isWritten = variable.references.some(
      (/** @type {any} */ { init, writeExpr, identifier }) =>
        (!init && writeExpr && this.isElement(writeExpr, depth)) ||
        this.#putInto(identifier).some((one) => this.isElement(one, depth)),
    );
    if (isWritten) return true;
    const init = this.module.initOf(variable);
    return init ? this.isElement(init, depth) : this.isFromElement(variable, depth);
  }

  /**
   * Return what code puts into an object, also by another name for it: by `list[0] = one`, or by
   * `groups.all.push(one)`.
   *
   * @param {Node} object
   * @param {number} [depth] of names that have led here
   * @returns {Node[]}
   */
  #putInto(object, depth = 0) {
    const around = this.parentOf(object);
    if (around?.type === 'VariableDeclarator' && around.init === object && depth < SEARCHED) {
      return this.#referencesOf(around.id).flatMap((one) => this.#putInto(one, depth + 1));
    }
    if (around?.type !== 'MemberExpression' || around.object !== object) return [];
    const assigned = this.assignedTo(around);
    if (assigned) return [assigned];
    const outer = this.parentOf(around);
    if (outer?.type !== 'CallExpression' || outer.callee !== around) {
      return this.#putInto(around, depth);
    }
    const isPut = MUTATING.has(nameOf(around.property));
    return isPut ? [...outer.arguments, ...this.#putInto(outer, depth)] : [];
  }

  /** Return where a name is used; nowhere for a pattern. @param {Node} name @returns {Node[]} */
  #referencesOf(name) {
    const references = this.module.variableOf(name)?.references ?? [];
    return references.map((/** @type {any} */ one) => one.identifier);
  }

  /**
   * Return what a member is assigned, or of what it is assigned a part.
   *
   * @param {Node} member
   * @returns {Node | undefined}
   */
  assignedTo(member) {
    let inner = member;
    let outer = this.parentOf(inner);
    while (outer && /^(\w+Pattern|Property|RestElement)$/.test(outer.type)) {
      inner = outer;
      outer = this.parentOf(outer);
    }
    const isTarget = /^(AssignmentExpression|ForOfStatement)$/.test(outer?.type ?? '');
    return isTarget && outer?.left === inner ? outer.right : undefined;
  }

  /**
   * Return the name that a callee or an identifier has in the module that declares it.
   *
   * @param {Node} node
   * @returns {string}
   */
  declaredName(node) {
    if (node.type === 'MemberExpression') return String(nameOf(node.property));
    if (node.type !== 'Identifier') return '';
    const { type, node: imported } = this.module.variableOf(node)?.defs[0] ?? {};
    if (type !== 'ImportBinding') return node.name;
    return imported.type === 'ImportDefaultSpecifier'
      ? 'default'
      : nameOf(imported.imported ?? imported.local);
  }

  /**
   * Whether a parameter, or a part of a pattern, may be of an element.
   *
   * @param {any} variable
   * @param {number} [depth]
   * @returns {boolean}
   */
  isFromElement(variable, depth = 0) {
    if (variable.defs.length !== 1) return false;
    if (this.#isOfKey(variable.defs[0].name)) return true;
    const [{ type, node, name }] = variable.defs;
    if (type === 'Variable') {
      const list = node.init ?? this.parentOf(/** @type {Node} */ (this.parentOf(node)))?.right;
      return Boolean(list) && this.isElement(list, depth + 1);
    }
    if (type === 'FunctionName') return this.isElement(node, depth + 1);
    if (type !== 'Parameter') return false;
    if (this.names().has(`${this.nameOfFunction(node)}(`)) return true;
    const index = node.params.findIndex((/** @type {Node} */ one) => contains(one, name));
    return this.callsOf(node).some(({ callee, arguments: args }) => {
      const others = args.filter((/** @type {Node} */ one) => !this.#isNameOf(one, node));
      const seen = others.length < args.length ? [callee, ...others] : args.slice(index, index + 1);
      return seen.some((/** @type {Node} */ one) => this.isElement(one, depth + 1));
    });
  }

  /** Whether an expression is a function, or the name of it. @param {Node} node @param {Node} called */
  #isNameOf(node, called) {
    if (node === called || node.type !== 'Identifier') return node === called;
    const named = this.namedBy(called);
    return named !== null && this.module.variableOf(node) === this.module.variableOf(named);
  }

  /**
   * Whether one of the keys by which patterns find a name may be that of an element.
   *
   * @param {Node | undefined} bound a name or a pattern
   * @returns {boolean}
   */
  #isOfKey(bound) {
    if (bound === undefined || !/^(Identifier|ObjectPattern|ArrayPattern)$/.test(bound.type)) {
      return false;
    }
    const key = this.keyOfPattern(bound);
    if (this.names().has(key)) return true;
    const parent = this.parentOf(bound);
    const inner = parent?.type === 'AssignmentPattern' ? this.parentOf(parent) : parent;
    return this.#isOfKey(inner?.type === 'Property' ? this.parentOf(inner) : inner);
  }

  /**
   * Return the calls that a function is called by, or passed to.
   *
   * @param {Node} node
   * @returns {Node[]}
   */
  callsOf(node) {
    const parent = this.parentOf(node);
    if (parent?.type === 'CallExpression') return [parent];
    const named = this.namedBy(node);
    const variable = named && this.module.variableOf(named);
    return (variable?.references ?? [])
      .map((/** @type {any} */ one) => this.parentOf(one.identifier))
      .filter((/** @type {Node | undefined} */ one) => one?.type === 'CallExpression');
  }

  /** Return the name that a function is declared with. @param {Node} node @returns {Node | null} */
  namedBy(node) {
    const parent = this.parentOf(node);
    return node.id ?? (parent?.type === 'VariableDeclarator' ? parent.id : null);
  }

  /** Return the name that a function is exported or called by. @param {Node} node */
  nameOfFunction(node) {
    let parent = this.parentOf(node);
    const isMemo = parent?.type === 'CallExpression' && this.module.nameInReact(parent.callee);
    if (isMemo === 'memo') parent = this.parentOf(/** @type {Node} */ (parent));
    if (parent?.type === 'ExportDefaultDeclaration') return 'default';
    const named = node.id ?? (parent?.type === 'VariableDeclarator' ? parent.id : null);
    return named?.name ?? '';
  }

  /** Return the key under which a pattern finds a variable; "" without one. @param {any} variable */
  keyOf(variable) {
    const name = variable.defs[0]?.name;
    return name ? this.keyOfPattern(name) : '';
  }

  /** Return the key of a pattern that binds a name, with or without a default. @param {Node} bound */
  keyOfPattern(bound) {
    let parent = this.parentOf(bound);
    if (parent?.type === 'AssignmentPattern') parent = this.parentOf(parent);
    if (parent?.type !== 'Property' || !isWritten(parent) || !this.isInPattern(parent)) return '';
    return String(nameOf(parent.key));
  }

  /** @param {Node} property */
  isInPattern(property) {
    return this.parentOf(property)?.type === 'ObjectPattern';
  }

  /** @param {Node} node @returns {Node | undefined} */
  parentOf(node) {
    return this.parents().get(node);
  }

  parents() {
    if (this.#around === undefined) {
      this.#around = new Map();
      collect(this.module.program, this.#around);
    }
    return this.#around;
  }
}

/** @param {Node} node */
export function isFunction({ type }) {
  return /Function/.test(type);
}

/**
 * Return what a function returns, without the functions in it.
 *
 * @param {Node} body
 * @returns {Node[]}
 */
export function returnedBy(body) {
  if (body.type === 'ReturnStatement') return body.argument === null ? [] : [body.argument];
  const parts = Object.values(body).flat();
  return parts
    .filter((part) => typeof part?.type === 'string' && !isFunction(part))
    .flatMap((part) => returnedBy(part));
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
export function contains(node, inner) {
  return node.start <= inner.start && inner.end <= node.end;
}

/** Whether the key of a property is written down, if in brackets. @param {Node} property */
export function isWritten({ computed, key }) {
  return !computed || key.type === 'Literal';
}

/** @param {Node} property the name of a member, or the text in brackets */
export function nameOf(property) {
  return property.name ?? property.value;
}
