/** Pairs of tags: the end that a tag lacks, and the two names that are changed together. Pure. */

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./trees.js').Tree} Tree */

/** How far back a tag may begin (characters), and how many tags are tried. */
const FAR = 2000;
const MOST_TRIED = 8;

const OPENING = /<([A-Za-z_$][\w$.:-]*)?/g;

/**
 * Return what closes a tag behind `>` or `</`, null where nothing is missing.
 *
 * It is right when the file is whole with it and is not without it.
 *
 * @param {import('./trees.js').Trees} trees
 * @param {string} text
 * @param {number} offset behind what was just written
 * @returns {string | null}
 */
export function closingAt(trees, text, offset) {
  const before = text.slice(Math.max(0, offset - FAR), offset);
  const isEnd = before.endsWith('</');
  if (!isEnd && (!before.endsWith('>') || /[=/]>$/.test(before))) return null;
  if (!isEnd && trees.of(text) !== null) return null;
  const names = [...before.matchAll(OPENING)].map(([, name]) => name ?? '').reverse();
  const tried = isEnd ? new Set(names.slice(1)) : new Set(names);
  for (const name of [...tried].slice(0, MOST_TRIED)) {
    const closing = isEnd ? `${name}>` : `</${name}>`;
    const tree = trees.of(text.slice(0, offset) + closing + text.slice(offset));
    const start = isEnd ? offset - 2 : offset;
    if (tree !== null && closesAt(tree, start, isEnd)) return closing;
  }
  return null;
}

/**
 * Whether a closing tag starts at an offset, and behind `>` right at its opening one.
 *
 * @param {Tree} tree
 * @param {number} start
 * @param {boolean} isEnd
 */
function closesAt(tree, start, isEnd) {
  return tree.around(start).some((node) => {
    const ends = tagsOf(node);
    return ends?.closing.start === start && (isEnd || ends.opening.end === start);
  });
}

/**
 * Return the names of the two tags of an element if one of them is at `offset`, null for none.
 *
 * @param {Tree | null} tree
 * @param {number} offset
 * @returns {{ start: number, end: number }[] | null}
 */
export function linkedAt(tree, offset) {
  for (const node of tree?.around(offset) ?? []) {
    const { opening, closing } = tagsOf(node) ?? {};
    const names = [opening?.name, closing?.name];
    if (names.some((name) => name && name.start <= offset && offset <= name.end)) return names;
  }
  return null;
}

/** @param {Node} node */
function tagsOf(node) {
  if (node.type === 'JSXElement' && node.closingElement) {
    return { opening: node.openingElement, closing: node.closingElement };
  }
  if (node.type === 'JSXFragment') {
    return { opening: node.openingFragment, closing: node.closingFragment };
  }
  return null;
}
