/**
 * What of a page's data an expression of its UI half stands for. Pure.
 *
 * An origin is a list of keys that begins at the properties of the page: `['data', 'posts', '[]',
 * 'title']` is the title of one of the posts, with '[]' for any element of a list. What an action
 * takes and gives begins at `['action', name]`, followed by 'body' or 'data'. Nothing is guessed:
 * null stands for all that is not known to come from there.
 */

import { importedNames } from '../check/usage.js';
import { below, find, keyOfMember } from './keys.js';

/**
 * @typedef {import('../check/tree.js').Node} Node
 * @typedef {import('./keys.js').Origin} Origin
 */

/** Methods of lists that hand elements to their callback, by the number of its parameter. */
const HANDS_ELEMENTS = new Map(
  [
    ...['map', 'filter', 'forEach', 'find', 'findIndex', 'findLast', 'findLastIndex', 'some'],
    ...['every', 'flatMap'],
  ].map((name) => [name, [0]]),
);
HANDS_ELEMENTS.set('reduce', [1]).set('reduceRight', [1]);
HANDS_ELEMENTS.set('sort', [0, 1]).set('toSorted', [0, 1]);

/** Methods that give a list of the same elements, and those that give one of them. */
const GIVES_LIST = new Set(['filter', 'slice', 'sort', 'toSorted', 'reverse', 'toReversed']);
const GIVES_ELEMENT = new Set(['find', 'findLast', 'at', 'pop', 'shift']);

/** Hooks whose first result is what they were given. */
const STATES = new Set(['useState', 'useOptimistic', 'useDeferredValue']);

const DEEPEST = 50; // names that lead to each other

/** What wraps an expression without changing it, by the name of the part that counts. */
const WRAPPERS = new Map([
  ['ChainExpression', 'expression'],
  ['ParenthesizedExpression', 'expression'],
  ['TSNonNullExpression', 'expression'],
  ['TSAsExpression', 'expression'],
  ['TSSatisfiesExpression', 'expression'],
  ['TSTypeAssertion', 'expression'],
  ['AwaitExpression', 'argument'],
  ['JSXExpressionContainer', 'expression'],
]);

/** The origins of one file. */
export class Origins {
  /**
   * @param {import('./trees.js').Tree} tree
   * @param {typeof import('eslint-scope').analyze} analyze
   */
  constructor(tree, analyze) {
    const { program, parents, elements } = tree;
    this.tree = tree;
    /** What the file imports from `fx/client`. */
    this.imported = importedNames(program);
    this.parents = parents;
    /** @type {Map<Node, any>} an identifier to its variable */
    this.variables = new Map();
    this.elements = elements;
    this.page = componentOf(program);
    this.depth = 0;
    const options = { ecmaVersion: 2025, sourceType: 'module', jsx: true, fallback: 'iteration' };
    const scopes = analyze(/** @type {any} */ (program), /** @type {any} */ (options));
    for (const scope of scopes.scopes) {
      for (const reference of scope.references) {
        this.variables.set(/** @type {any} */ (reference.identifier), reference.resolved);
      }
    }
  }

  /**
   * Return the origin of an expression.
   *
   * @param {Node | null | undefined} node
   * @returns {Origin | null}
   */
  of(node) {
    if (node === null || node === undefined || this.depth > DEEPEST) return null;
    this.depth += 1;
    try {
      return this.settled(this.ofKind(node));
    } finally {
      this.depth -= 1;
    }
  }

  /**
   * @param {Node} node
   * @returns {Origin | null}
   */
  ofKind(node) {
    const wrapped = WRAPPERS.get(node.type);
    if (wrapped !== undefined) return this.of(node[wrapped]);
    switch (node.type) {
      case 'Identifier':
        return this.ofVariable(this.variables.get(node));
      case 'MemberExpression':
        return below(this.of(node.object), keyOfMember(node));
      case 'LogicalExpression':
        if (node.operator === '&&') return this.of(node.right);
        return this.of(node.left) ?? this.of(node.right);
      case 'ConditionalExpression':
        return this.of(node.consequent) ?? this.of(node.alternate);
      case 'CallExpression':
        return this.ofCall(node);
      default:
        return null;
    }
  }

  /**
   * @param {Node} call
   * @returns {Origin | null}
   */
  ofCall({ callee, arguments: args }) {
    if (callee.type === 'MemberExpression' && !callee.computed) {
      const { name } = callee.property;
      if (GIVES_LIST.has(name)) return this.of(callee.object);
      return GIVES_ELEMENT.has(name) ? below(this.of(callee.object), '[]') : null;
    }
    if (callee.type !== 'Identifier') return null;
    const hook = this.imported.get(callee.name);
    if (hook === 'useParams') return ['params'];
    if (hook === 'useData') return ['data'];
    if (hook === 'useLayoutData') return ['layoutData'];
    if (hook === 'useAction') return args.length === 1 ? actionOf(args[0]) : null;
    if (callee.name === 'use' || callee.name === 'useDeferredValue') return this.of(args[0]);
    const called = this.of(callee);
    return called?.length === 2 && called[0] === 'action' ? [...called, 'data'] : null;
  }

  /**
   * @param {any} variable of `eslint-scope`; undefined for a global
   * @returns {Origin | null}
   */
  ofVariable(variable) {
    if (variable?.defs.length !== 1) return null;
    const [{ type, node, name, index }] = variable.defs;
    if (type === 'Parameter') {
      return find(node.params[index], name, this.ofParameter(node, index));
    }
    if (type !== 'Variable' || node.type !== 'VariableDeclarator') return null;
    const loop = this.parents.get(/** @type {Node} */ (this.parents.get(node)));
    if (loop?.type === 'ForOfStatement') {
      return find(node.id, name, below(this.of(loop.right), '[]'));
    }
    const { init } = node;
    if (node.id.type === 'ArrayPattern' && STATES.has(init?.callee?.name)) {
      return find(node.id.elements[0], name, this.of(init.arguments[0]));
    }
    return find(node.id, name, this.of(init));
  }

  /**
   * Return the origin of what a function is called with.
   *
   * @param {Node} called
   * @param {number} index
   * @returns {Origin | null}
   */
  ofParameter(called, index) {
    if (index === 0 && called === this.page) return [];
    const parent = this.parents.get(called);
    if (parent?.type === 'CallExpression' && parent.arguments[0] === called) {
      const { callee } = parent;
      const places = callee.type === 'MemberExpression' && HANDS_ELEMENTS.get(callee.property.name);
      return places && places.includes(index) ? below(this.of(callee.object), '[]') : null;
    }
    if (parent?.type === 'JSXExpressionContainer') return index === 0 ? this.ofForm(parent) : null;
    const name = called.id?.name ?? (parent?.type === 'VariableDeclarator' ? parent.id.name : null);
    return index === 0 && this.elements.has(name) ? [`<${name}>`] : null;
  }

  /**
   * Return the origin of the state that a form hands to the function that is its child.
   *
   * @param {Node} container
   * @returns {Origin | null}
   */
  ofForm(container) {
    const element = this.parents.get(container);
    const opening = element?.type === 'JSXElement' ? element.openingElement : null;
    return opening === null ? null : this.actionOfForm(opening);
  }

  /**
   * Return the action of the form that an opening tag is of, null when it is of none.
   *
   * @param {Node} opening
   * @returns {Origin | null}
   */
  actionOfForm(opening) {
    if (this.imported.get(opening.name.name) !== 'Form') return null;
    const named = new Map(
      opening.attributes.map((/** @type {Node} */ one) => [one.name?.name, one.value]),
    );
    if (named.has('page') || /^get$/i.test(named.get('method')?.value ?? '')) return null;
    return actionOf(named.get('action'));
  }

  /**
   * Return an origin that begins at a component of this file as one that begins at the page, when
   * all who use the component hand it the same.
   *
   * @param {Origin | null} origin
   * @returns {Origin | null}
   */
  settled(origin) {
    const component = /^<(.+)>$/.exec(origin?.[0] ?? '')?.[1];
    if (origin === null || component === undefined || origin.length < 2) return origin;
    const [, property, ...rest] = origin;
    const origins = (this.elements.get(component) ?? []).map((element) =>
      this.ofProperty(element, property),
    );
    const [first] = origins;
    if (!first || origins.some((one) => one?.join('\n') !== first.join('\n'))) return null;
    return [...first, ...rest];
  }

  /**
   * @param {Node} element
   * @param {string} property
   * @returns {Origin | null}
   */
  ofProperty({ attributes }, property) {
    for (const one of attributes.toReversed()) {
      if (one.type === 'JSXSpreadAttribute') return below(this.of(one.argument), property);
      if (one.name.name === property) return this.of(one.value);
    }
    return null;
  }
}

/**
 * @param {Node | undefined} name
 * @returns {Origin | null}
 */
function actionOf(name) {
  const value = name?.type === 'JSXExpressionContainer' ? name.expression.value : name?.value;
  return typeof value === 'string' ? ['action', value] : null;
}

/**
 * Return the function that the default export is, through `memo(…)` and names.
 *
 * @param {Node} program
 * @returns {Node | null}
 */
function componentOf(program) {
  const exported = program.body.find(
    (/** @type {Node} */ { type }) => type === 'ExportDefaultDeclaration',
  );
  const found = inCalls(exported?.declaration ?? null);
  if (found?.type !== 'Identifier') return found;
  for (const statement of program.body) {
    const declared = statement.declaration ?? statement;
    if (declared.type === 'FunctionDeclaration' && declared.id?.name === found.name) {
      return declared;
    }
    for (const one of declared.declarations ?? []) {
      if (one.id.name === found.name) return inCalls(one.init);
    }
  }
  return null;
}

/**
 * Return what the innermost of calls such as `memo(forwardRef(…))` is given.
 *
 * @param {Node | null} node
 * @returns {Node | null}
 */
function inCalls(node) {
  let found = node;
  while (found?.type === 'CallExpression') found = found.arguments[0] ?? null;
  return found;
}
