/** What rewriting has to know of imports, and the edits that come again and again. Pure. */

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./convert.js').Edit} Edit */
/** @typedef {import('./convert.js').Rewriting} Rewriting */

/** @returns {Rewriting} */
export function nothing() {
  return { edits: [], done: [], left: [], python: [] };
}

/**
 * Return an edit that puts `text` in the place of a node.
 *
 * @param {{ start: number, end: number }} node
 * @param {string} text
 * @returns {Edit}
 */
export function replace({ start, end }, text) {
  return { start, end, text };
}

/**
 * Return an edit that takes away a node with the space before it.
 *
 * @param {{ start: number, end: number }} node
 * @param {string} text of the file
 * @returns {Edit}
 */
export function remove({ start, end }, text) {
  let first = start;
  while (/[ \t]/.test(text[first - 1] ?? '')) first -= 1;
  const isLine = (first === 0 || text[first - 1] === '\n') && /^[ \t]*(\n|$)/.test(text.slice(end));
  if (!isLine) return { start: first, end, text: '' };
  const after = text.indexOf('\n', end);
  return { start: first, end: after < 0 ? text.length : after + 1, text: '' };
}

/**
 * Return an edit that writes another module where a string names one.
 *
 * @param {Node} literal
 * @param {string} module
 * @param {string} text of the file
 * @returns {Edit}
 */
export function renameModule(literal, module, text) {
  const quote = text[literal.start];
  return replace(literal, `${quote}${module}${quote}`);
}

/**
 * Return the local names of what a file imports from a module, by what it is there.
 *
 * @param {Node} program
 * @param {string} module
 * @returns {Map<string, string>} local name to name; that of a default is `default`
 */
export function importedFrom(program, module) {
  const names = new Map();
  for (const node of program.body) {
    if (node.type !== 'ImportDeclaration' || node.source.value !== module) continue;
    for (const one of node.specifiers) {
      names.set(one.local.name, one.imported?.name ?? one.imported?.value ?? 'default');
    }
  }
  return names;
}

/**
 * Return the edits that give environment variables for browsers their names here.
 *
 * @param {Node} node
 * @param {string} prefix `PYXLE_PUBLIC_`
 * @returns {Edit[]}
 */
export function publicVariable(node, prefix) {
  if (node.type !== 'MemberExpression' || node.computed) return [];
  const name = node.property.name;
  if (typeof name !== 'string' || !name.startsWith(prefix)) return [];
  return [replace(node, `import.meta.env.FX_PUBLIC_${name.slice(prefix.length)}`)];
}
