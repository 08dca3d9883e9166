/** Names under which the modules of a project have elements, so that others may read them. */

import { MUTATING } from '../allowed.js';
import { textOf } from '../elements/elements.js';
import { isFunction, isWritten, MaybeElements, nameOf } from './maybe-elements.js';
import { MaybeProps } from './props.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */

/** @typedef {() => { elements: ReadonlySet<string>, props: ReadonlySet<string> }} Names */

/**
 * Return the names under which modules give or export what may be an element, in any of them, and what
 * may be all that a component gets.
 *
 * @param {Module[]} modules
 * @returns {ReturnType<Names>}
 */
export function namesOfElements(modules) {
  return {
    elements: namesOf(modules, MaybeElements, ['children']),
    props: namesOf(modules, MaybeProps, []),
  };
}

/**
 * @param {Module[]} modules
 * @param {typeof MaybeElements} Values
 * @param {string[]} first
 */
function namesOf(modules, Values, first) {
  const names = new Set(first);
  const known = modules.map((module) => new Values(module, () => names));
  let before = -1;
  while (names.size > before) {
    before = names.size;
    for (const one of known) addNames(one, names);
  }
  return names;
}

/**
 * Add the names under which a module gives or exports what may be an element: `icon` of an
 * attribute or a property, `make()` of a function that returns one, `show(` of one that gets one.
 *
 * @param {MaybeElements} elements of the module
 * @param {Set<string>} names
 */
function addNames(elements, names) {
  const add = (/** @type {string} */ name, /** @type {Node | null | undefined} */ value) => {
    if (value && !names.has(name) && elements.isElement(value)) names.add(name);
  };
  const addFunction = (/** @type {string} */ name, /** @type {Node} */ node) => {
    if (isFunction(node)) add(`${name}()`, node);
    else add(name, node);
  };
  for (const node of elements.parents().keys()) {
    switch (node.type) {
      case 'JSXAttribute':
        add(textOf(node.name), node.value?.expression ?? node.value);
        break;
      case 'Property':
        if (isWritten(node) && !elements.isInPattern(node)) {
          add(String(nameOf(node.key)), node.value);
        }
        break;
      case 'AssignmentPattern':
        add(elements.keyOfPattern(node), node.right);
        break;
      case 'MemberExpression':
        add(keyOf(node), elements.assignedTo(node));
        break;
      case 'CallExpression':
        for (const argument of node.arguments) {
          add(`${elements.declaredName(node.callee)}(`, argument);
          if (MUTATING.has(keyOf(node.callee))) add(keyOf(node.callee.object), argument);
        }
        break;
      case 'ExportDefaultDeclaration':
        addFunction('default', node.declaration);
        break;
      case 'ExportSpecifier':
        // Also of another module, under whose own name it may be known.
        if (names.has(nameOf(node.local))) names.add(nameOf(node.exported));
        if (names.has(`${nameOf(node.local)}()`)) names.add(`${nameOf(node.exported)}()`);
        break;
      case 'FunctionDeclaration':
        if (node.id) addFunction(node.id.name, node);
        break;
      case 'VariableDeclarator':
        if (node.init && isOfModule(elements, node)) {
          for (const [name, value] of declaredBy(node)) addFunction(name, value);
        }
        break;
      default:
    }
  }
}

/** Return the key of a member; "" for what is none, or has no key that is written down. @param {Node} node */
function keyOf({ type, property, computed }) {
  if (type !== 'MemberExpression') return '';
  return computed ? String(property.value ?? '') : property.name;
}

/**
 * Return the names that a declaration gives to values; one of a pattern may be any part of its value.
 *
 * @param {Node} declarator
 * @returns {[string, Node][]}
 */
function declaredBy({ id, init }) {
  return namesIn(id).map(({ name }) => [name, init]);
}

/**
 * Return the names that a pattern binds, and those of its keys.
 *
 * @param {Node} pattern
 * @returns {Node[]}
 */
function namesIn(pattern) {
  if (pattern.type === 'Identifier') return [pattern];
  return Object.values(pattern)
    .flat()
    .filter((part) => typeof part?.type === 'string')
    .flatMap((part) => namesIn(part));
}

/**
 * Whether a declaration is at the top of its module.
 *
 * @param {MaybeElements} elements
 * @param {Node} declarator
 */
function isOfModule(elements, declarator) {
  const around = elements.parentOf(/** @type {Node} */ (elements.parentOf(declarator)));
  return /^(Program|ExportNamedDeclaration)$/.test(around?.type ?? '');
}
