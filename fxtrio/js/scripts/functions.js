/**
 * Functions as values: code that gets one can read its name and its text, which are shortened in
 * browsers. So functions may be called, and passed to what calls them at once.
 */

import { NO_FUNCTIONS } from './allowed.js';
import { PROPERTIES } from './element-types/element-types.js';
import { ALL } from './module.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./changes.js').Changes} Changes */
/** @typedef {import('./module.js').Meaning} Meaning */
/** @typedef {import('./module.js').Module} Module */
/** @typedef {import('./code.js').Reason} Reason */

/** Functions of React that call what they get, or make a component of it. */
const CALLING = new Set(['memo', 'useMemo']);

/** Where no value is read, or nothing of it but whether there is one. */
const UNREAD = new Set([
  ...['Program', 'BlockStatement', 'ExpressionStatement', 'LabeledStatement', 'IfStatement'],
  ...['ImportSpecifier', 'ImportDefaultSpecifier', 'ImportNamespaceSpecifier'],
  ...['ExportSpecifier', 'ExportDefaultDeclaration', 'ExportNamedDeclaration'],
  ...['MemberExpression', 'UnaryExpression', 'JSXExpressionContainer', 'JSXSpreadAttribute'],
]);

/** What a page fills the slots of its layouts with. */
const SLOTS = 'slots';

const PASSED_ON = 'a function that is passed on';

export class Functions {
  /** What a page fills the slots of its layouts with. @type {Set<Node | null>} */
  #slots;

  /**
   * @param {Module} module
   * @param {Changes} changes
   * @param {(name: Node) => Meaning} meaningOf a name, in whichever module it is declared
   */
  constructor(module, changes, meaningOf) {
    this.module = module;
    this.changes = changes;
    this.meaningOf = meaningOf;
    this.#slots = new Set(
      module.program.body.flatMap((/** @type {Node} */ one) => unreadSlots(one, module)),
    );
  }

  /**
   * Attributes and children are looked at with their element, and members and texts of names with
   * these.
   *
   * @param {Node} node
   * @param {Node | null} parent
   * @returns {Reason[]}
   */
  ofValue(node, parent) {
    if (parent === null || this.#slots.has(parent) || !this.#isFunction(node)) return [];
    return isValue(node, parent, this) ? [{ node, cause: PASSED_ON }] : [];
  }

  /**
   * @param {Node} node a name, also one of all that a module exports
   * @param {Node | null} parent
   * @returns {Reason[]}
   */
  ofName(node, parent) {
    if (/^Import/.test(parent?.type ?? '')) return [];
    if (this.#isComponentOfLibrary(node)) {
      return [{ node, cause: `${nameOf(node.property ?? node)} elsewhere than in a tag` }];
    }
    const whole = this.#ofWhole(node, parent);
    if (whole !== '') return [{ node, cause: `${whole} elsewhere than in a tag or a call` }];
    if (this.#isSlotsOfPage(node)) return [{ node, cause: 'the slots of another page' }];
    const isText = parent?.type === 'TemplateLiteral' || parent?.type === 'BinaryExpression';
    const isMember = parent?.type === 'MemberExpression' && parent.object === node;
    if (!isText && !(isMember && PROPERTIES.has(nameOf(parent.property)))) return [];
    const isFunction = this.meaningOf(node).kind === 'function';
    return isFunction ? [{ node, cause: `the text of ${nameOf(node.property ?? node)}` }] : [];
  }

  /**
   * @param {Node | null} value of an attribute of a component
   * @returns {Reason[]}
   */
  ofAttribute(value) {
    return value !== null && this.#isFunction(value) ? [{ node: value, cause: PASSED_ON }] : [];
  }

  /**
   * Elements of HTML leave out functions, and those of contexts call them.
   *
   * @param {Node} element
   * @param {Meaning | undefined | null} meaning of its name
   * @returns {Reason[]}
   */
  ofChildren({ children }, meaning) {
    if (meaning === undefined || meaning?.kind === 'context') return [];
    return children
      .filter((/** @type {Node} */ { type }) => type === 'JSXExpressionContainer')
      .flatMap((/** @type {Node} */ { expression }) => this.ofAttribute(expression));
  }

  /**
   * Whether a name is that of a component of `fx/client`: its attributes are looked at in tags only,
   * and `LINKS.map(Link)` gives it others.
   *
   * @param {Node} node
   */
  #isComponentOfLibrary(node) {
    const meaning = this.meaningOf(node);
    return (
      meaning.kind === 'import' && meaning.specifier === 'fx/client' && /^[A-Z]/.test(meaning.name)
    );
  }

  /**
   * Return which object of React a name stands for that has functions or what renders leave in it, where
   * it is used for anything but what it is there for; "" for others.
   *
   * @param {Node} node
   * @param {Node | null} parent
   */
  #ofWhole(node, parent) {
    const { module } = this;
    const isObject = parent?.type === 'MemberExpression' && parent.object === node;
    if (module.nameInReact(node) === 'Children') return isObject ? '' : 'Children';
    const isOfChildren = node.object && module.nameInReact(node.object) === 'Children';
    if (isOfChildren) return isCallee(node, parent) ? '' : 'a function of Children';
    if (this.meaningOf(node).kind !== 'context' || isNamed(node, parent)) return '';
    if (isObject) return nameOf(parent.property) === 'displayName' ? '' : 'a context';
    const isUsed = parent?.type === 'CallExpression' && parent.callee !== node;
    return isUsed && module.nameInReact(parent.callee) === 'useContext' ? '' : 'a context';
  }

  /**
   * Whether a name is that of what another page fills its slots with: functions.
   *
   * @param {Node} node
   */
  #isSlotsOfPage(node) {
    const found = this.module.meaningOf(node.object ?? node);
    if (found.kind !== 'import') return false;
    const isMember = node.object && found.name === ALL;
    return (isMember ? nameOf(node.property) : found.name) === SLOTS;
  }

  /**
   * Whether an expression is a function, as far as it shows.
   *
   * @param {Node} node
   */
  #isFunction(node) {
    if (/Function/.test(node.type)) return true;
    const isName = node.type === 'Identifier' && this.module.variableOf(node);
    if (!isName && node.type !== 'MemberExpression') return false;
    const meaning = this.meaningOf(node);
    if (meaning.kind !== 'import') return meaning.kind === 'function';
    return meaning.name !== ALL && !NO_FUNCTIONS.has(meaning.name);
  }
}

/** Whether a member is what a call calls. @param {Node} member @param {Node | null} parent */
export function isCallee(member, parent) {
  return parent?.type === 'CallExpression' && parent.callee === member;
}

/** Whether a name is declared or exported, or another one given to it. @param {Node} node @param {Node | null} parent */
function isNamed(node, parent) {
  if (/^(Ex|Im)port/.test(parent?.type ?? '')) return true;
  return (
    parent?.type === 'VariableDeclarator' && (parent.id === node || /^Id/.test(parent.id.type))
  );
}

/**
 * Return the slots of another page that are exported under another name, by which nobody knows them.
 *
 * @param {Node} node an import, or an export
 * @returns {Reason[]}
 */
export function renamedSlots({ source, specifiers = [] }) {
  if (!source) return [];
  return specifiers
    .filter(
      (/** @type {Node} */ { local, exported }) =>
        exported && nameOf(local) === SLOTS && nameOf(exported) !== SLOTS,
    )
    .map((/** @type {Node} */ node) => ({ node, cause: 'the slots of another page' }));
}

/** @param {Node} property the name of a member, or the text in brackets */
function nameOf(property) {
  return property.name ?? property.value;
}

/**
 * @param {Node} node
 * @param {Node} parent
 * @param {{ changes: Changes, module: Module }} looker
 */
function isValue(node, parent, { changes, module }) {
  if (UNREAD.has(parent.type)) return false;
  switch (parent.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return parent.body === node;
    case 'VariableDeclarator':
      return parent.init === node && parent.id.type !== 'Identifier';
    case 'CallExpression':
      if (parent.callee === node || changes.isBrief(node, parent)) return false;
      return !CALLING.has(module.nameInReact(parent.callee) ?? '');
    case 'Property':
      return parent.value === node && parent.kind === 'init';
    case 'ConditionalExpression':
      return parent.test !== node;
    case 'BinaryExpression':
    case 'TemplateLiteral':
      return node.type !== 'Identifier';
    default:
      return true;
  }
}

/**
 * Return the same if nothing else in the module reads it: `slots.aside.name`.
 *
 * @param {Node} node of the top level
 * @param {Module} module
 * @returns {Node[]}
 */
function unreadSlots(node, module) {
  const slots = slotsOf(node);
  const declared = (slots.length > 0 && node.declaration.declarations) || [];
  const isRead = declared.some((/** @type {Node} */ { id }) =>
    module.variableOf(id)?.references.some((/** @type {any} */ one) => !one.init),
  );
  return isRead ? [] : slots;
}

/**
 * Return what a page fills the slots of its layouts with: the properties of `export const slots`.
 *
 * @param {Node} node of the top level
 * @returns {Node[]}
 */
export function slotsOf({ type, declaration }) {
  if (type !== 'ExportNamedDeclaration') return [];
  const declared = declaration?.declarations ?? [];
  const [slots] = declared.filter((/** @type {Node} */ { id }) => id.name === SLOTS);
  return slots?.init?.properties ?? [];
}
