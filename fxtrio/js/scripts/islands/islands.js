/**
 * Which components a module shows in islands, and what is wrong with these. Pure.
 *
 * Browsers load the component of an island without the page around it, so it is imported from a file
 * of its own, and its properties come out of JSON.
 */

import { OF_LIBRARY } from '../../worker/library.js';
import { misplaced } from '../nesting/tables.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {{ offset: number, message: string, remedy: string }} Mistake */
/**
 * A component in an island: the element `<Island>`, the opening tag in it, and which export of which
 * module that is.
 *
 * @typedef {{ element: Node, tag: Node, specifier: string, name: string, when: string }} Site
 */
/**
 * What a name leads to; undefined for one that is not imported.
 *
 * @typedef {(name: Node) => { specifier: string, name: string } | undefined} ImportOf
 */

/** The element around an island that says nothing else (`client/view/islands/island.js`). */
const ELEMENT = 'fx-island';

const WHEN = ['load', 'idle', 'visible'];

const OWN_FILE = 'Write it in a separate file, and import it: browsers load it without the page';

/**
 * Return the islands of a module, and its mistakes, in the order of its text.
 *
 * @param {Node} program
 * @param {ImportOf} importOf
 * @returns {{ sites: Site[], mistakes: Mistake[] }}
 */
export function islandsOf(program, importOf) {
  /** @type {Site[]} */
  const sites = [];
  /** @type {Mistake[]} */
  const mistakes = [];
  if (!program.body.some(isOfClient)) return { sites, mistakes };
  visit(program, [], (element, around) => {
    const opening = element.openingElement;
    const found = importOf(opening.name);
    if (!isIsland(found)) return;
    const [tag, ...wrong] = childOf(element, importOf);
    mistakes.push(...attributeMistakes(opening, around), ...wrong);
    if (tag === null) return;
    const { specifier, name } = /** @type {any} */ (importOf(tag.name));
    sites.push({ element, tag, specifier, name, when: textOf(opening, 'when') ?? WHEN[0] });
    mistakes.push(...tag.attributes.flatMap(propertyMistakes));
  });
  return { sites, mistakes };
}

/**
 * Return what the names of a module's imports lead to. A variable of the same name is not told apart.
 *
 * @param {Node} program
 * @returns {ImportOf}
 */
export function importsByName(program) {
  const names = new Map();
  for (const { type, source, specifiers } of program.body) {
    if (type !== 'ImportDeclaration') continue;
    for (const { type: kind, local, imported } of specifiers) {
      const named = imported?.name ?? imported?.value ?? '*';
      const name = kind === 'ImportDefaultSpecifier' ? 'default' : named;
      names.set(local.name, { specifier: source.value, name });
    }
  }
  return (name) => {
    if (name.type !== 'JSXMemberExpression') return names.get(name.name);
    const { specifier = '', name: whole } = names.get(name.object.name) ?? {};
    return whole === '*' ? { specifier, name: name.property.name } : undefined;
  };
}

/**
 * Return the mistakes of a module, all of which keep a build from working.
 *
 * @param {Node} program
 */
export function islandMistakes(program) {
  const { mistakes } = islandsOf(program, importsByName(program));
  return mistakes.map((one) => ({ ...one, certain: true }));
}

/** @param {any} found what a tag means, or imports */
export function isIsland(found) {
  return found?.specifier === 'fx/client' && found.name === 'Island';
}

/**
 * Return the name of the element around an island; null where it is not known.
 *
 * @param {Node} opening
 */
export function elementOf(opening) {
  return attributeOf(opening, 'as') === undefined ? ELEMENT : (textOf(opening, 'as') ?? null);
}

/** Whether a statement imports `Island`, or all that it is among. @param {Node} statement */
function isOfClient({ source, specifiers = [] }) {
  if (source?.value !== 'fx/client') return false;
  return specifiers.some(
    (/** @type {Node} */ { imported }) => imported === undefined || imported.name === 'Island',
  );
}

/**
 * Call `found` for each element of JSX, with the names of those around it, the innermost last.
 *
 * @param {Node} node
 * @param {string[]} around
 * @param {(element: Node, around: string[]) => void} found
 */
function visit(node, around, found) {
  let inside = around;
  if (node.type === 'JSXElement') {
    found(node, around);
    inside = [...around, nameOf(node.openingElement.name)];
  }
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (typeof part?.type === 'string') visit(part, inside, found);
    }
  }
}

/**
 * Return the opening tag of the component in an island, null for none, and what is wrong with it.
 *
 * @param {Node} element
 * @param {ImportOf} importOf
 * @returns {[Node | null, ...Mistake[]]}
 */
function childOf(element, importOf) {
  const children = element.children.filter((/** @type {Node} */ one) => !isNothing(one));
  const [child] = children;
  if (children.length !== 1 || child.type !== 'JSXElement') {
    const place = element.openingElement;
    const message =
      'An <Island> has one component as its child, as in <Island><Counter /></Island>';
    return [null, mistake(place, message, `Make it one component. ${OWN_FILE}`)];
  }
  const tag = child.openingElement;
  const name = nameOf(tag.name);
  const found = tag.name.type === 'JSXIdentifier' ? importOf(tag.name) : undefined;
  const isOwn =
    found !== undefined &&
    found.name !== '*' &&
    found.specifier !== 'fx/client' &&
    !OF_LIBRARY.test(found.specifier);
  if (isOwn) return [tag, ...child.children.flatMap(childMistakes)];
  return [null, mistake(tag, `<${name}> in an <Island> is not imported from a file`, OWN_FILE)];
}

/** Whether a child is only there for the look of the code. @param {Node} child */
function isNothing({ type, value, expression }) {
  if (type === 'JSXText') return value.trim() === '';
  return type === 'JSXExpressionContainer' && expression.type === 'JSXEmptyExpression';
}

/**
 * @param {Node} opening
 * @param {string[]} around
 * @returns {Mistake[]}
 */
function attributeMistakes(opening, around) {
  /** @type {Mistake[]} */
  const found = [];
  const when = textOf(opening, 'when');
  const attribute = attributeOf(opening, 'when');
  if (attribute !== undefined && when !== undefined && !WHEN.includes(when)) {
    found.push(
      mistake(attribute, `An <Island> has no when="${when}"`, 'Write "load", "idle" or "visible"'),
    );
  }
  const element = elementOf(opening);
  const outer = around.at(-1) ?? '';
  const fitting = element === null ? undefined : misplaced(element, outer);
  if (fitting !== undefined) {
    const message = `<${element}> in <${outer}>, which browsers rearrange`;
    found.push(mistake(opening, message, `Write <Island as="${fitting}">`));
  }
  return found;
}

/** @param {Node} attribute of the component @returns {Mistake[]} */
function propertyMistakes(attribute) {
  if (attribute.type !== 'JSXAttribute') return [];
  const name = nameOf(attribute.name);
  const value = attribute.value?.expression ?? attribute.value;
  const what = misfit(value);
  if (what === undefined) return [];
  const message = `The property '${name}' of a component in an <Island> is ${what}, which is not JSON`;
  return [mistake(attribute, message, remedyFor(what))];
}

/** @param {Node} child of the component @returns {Mistake[]} */
function childMistakes(child) {
  if (isNothing(child)) return [];
  const what = /^JSX(Element|Fragment)$/.test(child.type) ? 'an element' : misfit(child.expression);
  if (what === undefined) return [];
  const message = `A component in an <Island> gets ${what} as its child, which is not JSON`;
  return [mistake(child, message, remedyFor(what))];
}

/** @param {Node | null | undefined} value */
function misfit(value) {
  if (/Function/.test(value?.type ?? '')) return 'a function';
  return /^JSX(Element|Fragment)$/.test(value?.type ?? '') ? 'an element' : undefined;
}

/** @param {string} what */
function remedyFor(what) {
  return `Pass data, and make the ${what.slice(what.indexOf(' ') + 1)} of it in the component`;
}

/**
 * @param {Node} node
 * @param {string} message
 * @param {string} remedy
 * @returns {Mistake}
 */
function mistake({ start }, message, remedy) {
  return { offset: start, message, remedy };
}

/**
 * @param {Node} opening
 * @param {string} name
 * @returns {Node | undefined}
 */
function attributeOf({ attributes }, name) {
  return attributes.find(
    (/** @type {Node} */ one) => one.type === 'JSXAttribute' && nameOf(one.name) === name,
  );
}

/**
 * Return the text of an attribute; undefined without one, and for one that is no plain text.
 *
 * @param {Node} opening
 * @param {string} name
 * @returns {string | undefined}
 */
function textOf(opening, name) {
  const written = attributeOf(opening, name)?.value;
  const value = written?.expression ?? written;
  return typeof value?.value === 'string' ? value.value : undefined;
}

/** @param {Node} name @returns {string} */
function nameOf(name) {
  if (name.type === 'JSXMemberExpression') return `${nameOf(name.object)}.${name.property.name}`;
  return name.type === 'JSXNamespacedName' ? `${name.namespace.name}:${name.name.name}` : name.name;
}
