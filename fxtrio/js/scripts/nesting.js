/**
 * Elements where HTML does not allow them: browsers rearrange these when they read a document, and React
 * restores what was written (the HTML standard, "Tree construction").
 *
 * Only what is around an element in its own component is seen here; `fx dev` compares whole pages.
 */

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./code.js').Reason} Reason */

const ROWS = ['tbody', 'thead', 'tfoot'];

/** What these may be in. @type {Record<string, string[]>} */
const PARENTS = {
  ...{ caption: ['table'], colgroup: ['table'], tbody: ['table'], thead: ['table'] },
  ...{ tfoot: ['table'], tr: ROWS, td: ['tr'], th: ['tr'], col: ['colgroup'] },
};

/** What may be in these, besides what runs or styles. @type {Record<string, string[]>} */
const CHILDREN = {
  ...{ table: ['caption', 'colgroup', ...ROWS], tr: ['td', 'th'], colgroup: ['col'] },
  ...{ tbody: ['tr'], thead: ['tr'], tfoot: ['tr'] },
};
const ANYWHERE = new Set(['script', 'style', 'template']);

/** What ends a paragraph. */
const BLOCKS = new Set([
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'center',
    'dd',
    'details',
    'dialog',
    'dir',
    'div',
  ],
  ...[
    'dl',
    'dt',
    'fieldset',
    'figcaption',
    'figure',
    'footer',
    'form',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
  ],
  ...['h6', 'header', 'hgroup', 'hr', 'li', 'main', 'menu', 'nav', 'ol', 'p', 'pre', 'search'],
  ...['section', 'summary', 'table', 'ul'],
]);

/** What has no other of its kind in it, however deep. */
const ALONE = new Set(['a', 'button', 'form', 'nobr']);

/** What ends one of its kind that it is directly in. */
const CLOSING = [/^h[1-6]$/, /^option$/];

/** What ends one of its kind that it is in, whatever phrase or plain block is between. */
const ITEMS = [/^li$/, /^d[dt]$/];
const PLAIN = new Set(['address', 'div', 'p']);

/** What browsers move out of a table, if it is directly in one. */
const TEXT = new Set(['Literal', 'TemplateLiteral', 'MemberExpression']);

/** What ends a drawing or a formula, besides blocks. */
const OF_HTML = new Set([
  ...['b', 'big', 'br', 'code', 'em', 'embed', 'i', 'img', 'nobr', 'ruby', 's', 'small', 'span'],
  ...['strike', 'strong', 'sub', 'sup', 'tt', 'u', 'var'],
]);

/** Drawings and formulas, and what holds HTML in them. */
const FOREIGN = /^(svg|math)$/;
const INTEGRATED = /^(annotation-xml|desc|foreignObject|m[inos]|mtext|title)$/;

/** Within which the paragraphs around do not count. */
const SCOPES = new Set(['button', 'caption', 'object', 'table', 'td', 'th']);

export class Nesting {
  /** Names of elements of HTML, the innermost last; "" for a component. @type {string[]} */
  #around = [];

  /**
   * Enter an element, which `leave` has to follow.
   *
   * @param {Node} node
   * @param {string} name of an element of HTML; "" for a component, which puts its children anywhere
   * @returns {Reason[]}
   */
  enter(node, name) {
    const around = this.#around.slice(this.#around.lastIndexOf('') + 1);
    this.#around.push(name);
    const outer = name === '' ? undefined : clashOf(name, around);
    if (outer === undefined) return [];
    return [{ node, cause: `<${name}> in <${outer}>, which browsers rearrange` }];
  }

  leave() {
    this.#around.pop();
  }
}

/**
 * Return text that is directly in a table or a row of it, as far as it shows.
 *
 * @param {Node} element
 * @param {string} name
 * @returns {Reason[]}
 */
export function misplacedText({ children }, name) {
  if (!Object.hasOwn(CHILDREN, name)) return [];
  return children
    .filter((/** @type {Node} */ { type, value, expression }) =>
      type === 'JSXText' ? value.trim() !== '' : TEXT.has(expression?.type),
    )
    .map((/** @type {Node} */ node) => ({
      node,
      cause: `text in <${name}>, which browsers rearrange`,
    }));
}

/**
 * Return an element that is allowed in a part of a table where another one is; undefined if that is
 * allowed itself.
 *
 * @param {string} name
 * @param {string} parent
 * @returns {string | undefined}
 */
export function misplaced(name, parent) {
  if (!Object.hasOwn(CHILDREN, parent) || CHILDREN[parent].includes(name)) return undefined;
  return CHILDREN[parent].at(-1) === 'tfoot' ? 'tbody' : CHILDREN[parent][0];
}

/**
 * Return which of the elements around one it cannot be in.
 *
 * @param {string} name
 * @param {string[]} around
 */
function clashOf(name, around) {
  const parent = around.at(-1);
  if (parent === undefined) return undefined;
  const foreign = around.findLastIndex((one) => FOREIGN.test(one));
  if (foreign >= 0) {
    const integrated = around.findLastIndex((one) => INTEGRATED.test(one));
    if (integrated > foreign) return clashOf(name, around.slice(integrated + 1));
    return BLOCKS.has(name) || OF_HTML.has(name) ? around[foreign] : undefined;
  }
  const isMisplaced = Object.hasOwn(PARENTS, name) && !PARENTS[name].includes(parent);
  const allowed = Object.hasOwn(CHILDREN, parent) ? CHILDREN[parent] : undefined;
  if (isMisplaced || (allowed && !allowed.includes(name) && !ANYWHERE.has(name))) return parent;
  if (CLOSING.some((kind) => kind.test(name) && kind.test(parent))) return parent;
  const block = around.findLast((one) => !PLAIN.has(one) && (BLOCKS.has(one) || SCOPES.has(one)));
  if (ITEMS.some((kind) => kind.test(name) && kind.test(block ?? ''))) return block;
  if (ALONE.has(name) && around.includes(name)) return name;
  const scope = around.slice(around.findLastIndex((one) => SCOPES.has(one)) + 1);
  return BLOCKS.has(name) && scope.includes('p') ? 'p' : undefined;
}
