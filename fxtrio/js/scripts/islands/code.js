/** What the code of islands cannot do, since they know nothing of the page around them. */

import { isLibrary } from '../module.js';
import { walk } from '../../check/tree.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('../module.js').Module} Module */
/** @typedef {import('../proof.js').Island} Island */
/** @typedef {import('../proof.js').Proof} Proof */
/** @typedef {import('../../vite/plan.js').IslandProblem} IslandProblem */
/** @typedef {{ path: string, line: number, column: number }} Place */
/** @typedef {Place & { key: string, name: string }} Use */

/** What of `fx/client` is about the page. */
const OF_PAGES = new Set(['Slot', 'Toc', 'useContent', 'useData', 'useLayoutData', 'useLoader']);

/**
 * Return what does not work in the islands of a view, and what may not.
 *
 * @param {Proof} proof
 * @param {string[]} page the files of the view
 * @param {Island[]} islands
 * @returns {{ mistakes: IslandProblem[], doubts: IslandProblem[] }}
 */
export function islandReasons(proof, page, islands) {
  /** @type {Map<string, IslandProblem>} */
  const mistakes = new Map();
  /** @type {Map<string, IslandProblem>} */
  const doubts = new Map();
  for (const island of islands) {
    const files = proof.filesFrom(island.file);
    const where = `the <Island> of ${island.path}:${island.line}`;
    for (const { name, ...place } of files.flatMap((file) => ofPages(proof, file))) {
      const message = `'${name}' works only in a page, not in ${where}`;
      const remedy = 'Pass what it needs as a property of its component';
      mistakes.set(keyOf(place, name), { ...place, message, remedy });
    }
    for (const { name, outer, ...place } of outerContexts(proof, page, files)) {
      const message =
        `'${name}' has its default value here: ${outer} is outside of ${where}, which is a ` +
        'separate tree';
      const remedy = 'Pass the value as a property of its component';
      doubts.set(keyOf(place, name), { ...place, message, remedy });
    }
  }
  return { mistakes: [...mistakes.values()], doubts: [...doubts.values()] };
}

/**
 * @param {Place} place
 * @param {string} name
 */
function keyOf({ path, line, column }, name) {
  return `${path}:${line}:${column}:${name}`;
}

/**
 * @param {Proof} proof
 * @param {string} file
 * @returns {(Place & { name: string })[]}
 */
function ofPages(proof, file) {
  const module = proof.knownOf(file)?.module;
  if (module === undefined) return [];
  return module.program.body
    .filter((/** @type {Node} */ { source }) => source?.value === 'fx/client')
    .flatMap((/** @type {Node} */ { specifiers }) => specifiers ?? [])
    .filter((/** @type {Node} */ { imported }) => OF_PAGES.has(imported?.name))
    .map((/** @type {Node} */ one) => ({ ...placeOf(module, one), name: one.imported.name }));
}

/**
 * @param {Module} module
 * @param {Node} node
 * @returns {Place}
 */
function placeOf(module, node) {
  return { path: module.path, ...module.placeOf(node) };
}

/**
 * Return the contexts that an island reads, and that only the page around it gives a value.
 *
 * @param {Proof} proof
 * @param {string[]} page
 * @param {string[]} island
 * @returns {(Place & { name: string, outer: string })[]}
 */
function outerContexts(proof, page, island) {
  const read = island.flatMap((file) => contextsOf(proof, file, nameOfRead));
  if (read.length === 0) return [];
  const inside = new Set(
    island.flatMap((file) => contextsOf(proof, file, nameOfProvided)).map(({ key }) => key),
  );
  const provided = page.flatMap((file) => contextsOf(proof, file, nameOfProvided));
  return read.flatMap(({ key, ...use }) => {
    const outer = provided.find((one) => one.key === key);
    if (outer === undefined || inside.has(key)) return [];
    return [{ ...use, outer: `${outer.path}:${outer.line}` }];
  });
}

/**
 * Return where a module uses contexts, as far as it shows.
 *
 * @param {Proof} proof
 * @param {string} file
 * @param {(node: Node, module: Module) => Node | undefined} nameOfUse returns the name of one
 * @returns {Use[]}
 */
function contextsOf(proof, file, nameOfUse) {
  const module = proof.knownOf(file)?.module;
  /** @type {Use[]} */
  const found = [];
  if (module === undefined) return found;
  walk(module.program, (node) => {
    const name = nameOfUse(node, module);
    if (name === undefined) return;
    const meaning = module.meaningOf(name);
    const isOwn = meaning.kind !== 'import' || isLibrary(meaning.specifier);
    const { specifier = '', name: exported = '' } = /** @type {any} */ (meaning);
    const home = isOwn
      ? { file, name: name.name, meaning }
      : proof.declared(file, specifier, exported);
    if (home.meaning.kind !== 'context') return;
    const key = `${home.file}#${home.name}`;
    found.push({ ...placeOf(module, node), key, name: name.name });
  });
  return found;
}

/** @param {Node} node @param {Module} module */
function nameOfRead(node, module) {
  if (node.type !== 'CallExpression') return undefined;
  const isHook = /^use(Context)?$/.test(module.nameInReact(node.callee) ?? '');
  const [context] = node.arguments;
  return isHook && context?.type === 'Identifier' ? context : undefined;
}

/** @param {Node} node @returns {Node | undefined} */
function nameOfProvided({ type, name }) {
  if (type !== 'JSXOpeningElement') return undefined;
  if (name.type !== 'JSXMemberExpression') return name.type === 'JSXIdentifier' ? name : undefined;
  return name.property.name === 'Provider' && name.object.type === 'JSXIdentifier'
    ? name.object
    : undefined;
}
