/** Imports of Next.js that have a counterpart in `fx/client` or React, and `useRouter()`. Pure. */

import { walk } from '../check/tree.js';
import { importedFrom, remove, replace } from './edits.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./convert.js').Rewriting} Rewriting */

/** Modules whose default export is a component of `fx/client`. @type {Record<string, string>} */
const COMPONENTS = {
  'next/link': 'Link',
  'next/image': 'Image',
  'next/script': 'Script',
  'next/head': 'Head',
};
const NAVIGATION = 'next/navigation';
const HOOKS = new Set(['usePathname', 'useSearchParams', 'useParams']);
const ENDINGS = new Map([
  ['redirect', 'Write return redirect(…) of fx.runtime in the loader or action'],
  ['permanentRedirect', 'Write return redirect(…, status=308) of fx.runtime in the loader'],
  ['notFound', 'Write raise NotFound(…) of fx.runtime in the loader'],
]);

/** Methods of the router, and what is called here. @type {Record<string, string>} */
const ROUTER = {
  push: 'navigate',
  replace: 'navigate',
  refresh: 'refresh',
  prefetch: 'prefetch',
  back: 'history.back',
  forward: 'history.forward',
};

/**
 * Write imports of `fx/client` in the place of Next.js's; names without a counterpart stay.
 *
 * @param {Node} program
 * @param {string} text
 * @param {Set<string>} wanted what is imported besides; what the file declares itself is not in it
 * @param {Rewriting} found
 */
export function importEdits(program, text, wanted, found) {
  const names = new Set(wanted);
  /** @type {{ node: Node, rest: string[] }[]} */
  const changed = [];
  for (const node of program.body) {
    if (node.type !== 'ImportDeclaration') continue;
    if (node.source.value === 'next' && isOfTypes(node)) {
      changed.push({ node, rest: [] });
      continue;
    }
    const remaining = node.specifiers.filter((/** @type {Node} */ one) => {
      const here = nameHere(node.source.value, one);
      if (here === undefined) return true;
      names.add(here === one.local.name ? here : `${here} as ${one.local.name}`);
      return false;
    });
    const rest = remaining.filter((/** @type {Node} */ one) => !isTaken(program, node, one));
    if (rest.length === node.specifiers.length) continue;
    changed.push({ node, rest: rest.map((/** @type {Node} */ one) => textOf(one, text)) });
  }
  endings(program, found);
  const line = names.size > 0 ? `import { ${[...names].sort().join(', ')} } from 'fx/client';` : '';
  for (const [index, { node, rest }] of changed.entries()) {
    const lines = index === 0 && line !== '' ? [line] : [];
    if (rest.length > 0) lines.push(`import { ${rest.join(', ')} } from '${node.source.value}';`);
    found.edits.push(lines.length > 0 ? replace(node, lines.join('\n')) : remove(node, text));
    found.done.push(`imports of ${node.source.value}`);
  }
  if (changed.length === 0 && line !== '') {
    const at = program.body.find(
      (/** @type {Node} */ one) =>
        one.directive === undefined && // an insertion into what is removed would be lost
        !found.edits.some(({ start, end }) => start <= one.start && one.start < end),
    )?.start;
    found.edits.push({ start: at ?? 0, end: at ?? 0, text: `${line}\n` });
  }
}

/** @param {Node} node */
function isOfTypes({ importKind, specifiers }) {
  return (
    importKind === 'type' ||
    specifiers.every((/** @type {Node} */ one) => ['Metadata', 'Viewport'].includes(one.local.name))
  );
}

/**
 * @param {string} module
 * @param {Node} specifier
 * @returns {string | undefined} the name in `fx/client`
 */
function nameHere(module, specifier) {
  if (specifier.type === 'ImportDefaultSpecifier') return COMPONENTS[module];
  const name = specifier.imported?.name;
  return module === NAVIGATION && HOOKS.has(name) ? name : undefined;
}

/**
 * Whether an import of `useRouter` has lost all its calls.
 *
 * @param {Node} program
 * @param {Node} node
 * @param {Node} specifier
 */
function isTaken(program, node, specifier) {
  return (
    node.source.value === NAVIGATION &&
    specifier.imported?.name === 'useRouter' &&
    program.routerTaken === true
  );
}

/**
 * @param {Node} specifier
 * @param {string} text
 */
function textOf(specifier, text) {
  const imported = text.slice(specifier.start, specifier.end);
  return specifier.type === 'ImportDefaultSpecifier' ? `default as ${imported}` : imported;
}

/**
 * List the calls that end a request: they are Python's here.
 *
 * @param {Node} program
 * @param {Rewriting} found
 */
function endings(program, found) {
  const imported = importedFrom(program, NAVIGATION);
  walk(program, (node) => {
    const name = node.type === 'CallExpression' ? imported.get(node.callee.name) : undefined;
    const remedy = ENDINGS.get(name ?? '');
    if (remedy === undefined) return;
    found.left.push({
      offset: node.start,
      message: `'${name}()' of Next.js does not end the request`,
      remedy,
    });
  });
}

/**
 * Write functions of `fx/client` in the place of `const router = useRouter()`, if all uses of it
 * are calls that there is one for.
 *
 * @param {Node} program
 * @param {string} text
 * @param {Set<string>} wanted gets what is to be imported
 * @param {Rewriting} found
 */
export function takeRouter(program, text, wanted, found) {
  const imported = importedFrom(program, NAVIGATION);
  const [hook] = [...imported].find(([, name]) => name === 'useRouter') ?? [];
  if (hook === undefined) return;
  const uses = usesOf(program, hook);
  if (uses === undefined) return;
  for (const { edits, name } of uses) {
    found.edits.push(...edits(text));
    if (name !== undefined && !name.includes('.')) wanted.add(name);
  }
  program.routerTaken = true;
  found.done.push('useRouter() → navigate, refresh');
}

/** @typedef {{ edits: (text: string) => import('./convert.js').Edit[], name?: string }} Use */

/**
 * Return every use of the hook and its routers; undefined when one of them is of another kind.
 *
 * @param {Node} program
 * @param {string} hook
 * @returns {Use[] | undefined}
 */
function usesOf(program, hook) {
  /** @type {Set<string>} */
  const routers = new Set();
  /** @type {Map<string, string>} */
  const methods = new Map();
  /** @type {Set<Node>} */
  const known = new Set();
  /** @type {Use[]} */
  const uses = [];
  walk(program, (node) => {
    if (node.type !== 'VariableDeclaration' || node.declarations.length !== 1) return;
    const [{ id, init }] = node.declarations;
    if (init?.type !== 'CallExpression' || init.callee.name !== hook) return;
    const parts = id.type === 'ObjectPattern' ? methodsOf(id) : undefined;
    if (id.type === 'Identifier') routers.add(id.name);
    else if (parts === undefined) return;
    for (const [local, method] of parts ?? []) methods.set(local, method);
    walk(id, (one) => known.add(one));
    known.add(init.callee);
    uses.push({ edits: (text) => [remove(node, text)] });
  });
  walk(program, (node) => {
    const use =
      callOf(node, routers, methods) ?? listOf(node, new Set([...routers, ...methods.keys()]));
    if (use === undefined) return;
    for (const one of use.known) known.add(one);
    uses.push(use);
  });
  const names = new Set([hook, ...routers, ...methods.keys()]);
  const taken = new Set(Object.values(ROUTER));
  let isPlain = true;
  walk(program, (node) => {
    if (node.type === 'ImportSpecifier') known.add(node.local).add(node.imported);
    if (node.type === 'Identifier' && names.has(node.name) && !known.has(node)) isPlain = false;
    if (node.type === 'VariableDeclarator' && taken.has(node.id.name)) isPlain = false;
    if (node.type === 'Property' && !node.computed && !node.shorthand) known.add(node.key);
    if (/Function/.test(node.type) && taken.has(node.id?.name)) isPlain = false;
    // A property of that name, and no use of the router.
    if (node.type === 'MemberExpression' && !node.computed) known.add(node.property);
  });
  return isPlain ? uses : undefined;
}

/**
 * Return the methods that a pattern takes from the router, by their local names; undefined for
 * one that takes something else.
 *
 * @param {Node} pattern
 * @returns {[string, string][] | undefined}
 */
function methodsOf(pattern) {
  /** @type {[string, string][]} */
  const found = [];
  for (const { key, value, computed } of pattern.properties) {
    if (computed !== false || value?.type !== 'Identifier') return undefined;
    if (!Object.hasOwn(ROUTER, key.name)) return undefined;
    found.push([value.name, key.name]);
  }
  return found;
}

/**
 * @param {Node} node
 * @param {Set<string>} routers
 * @param {Map<string, string>} methods
 * @returns {(Use & { known: Node[] }) | undefined} a call such as `router.push("/")`
 */
function callOf(node, routers, methods) {
  if (node.type !== 'CallExpression') return undefined;
  const { callee, arguments: args } = node;
  const isMember = callee.type === 'MemberExpression' && !callee.computed;
  const method =
    isMember && routers.has(callee.object.name) ? callee.property.name : methods.get(callee.name);
  if (method === undefined || !Object.hasOwn(ROUTER, method)) return undefined;
  const takesUrl = ['push', 'replace', 'prefetch'].includes(method);
  if (args.length !== (takesUrl ? 1 : 0) || args[0]?.type === 'SpreadElement') return undefined;
  const name = ROUTER[method];
  const edits = () => [
    replace(callee, name),
    ...(method === 'replace'
      ? [{ start: args[0].end, end: args[0].end, text: ', { replace: true }' }]
      : []),
  ];
  return { edits, name, known: [isMember ? callee.object : callee] };
}

/**
 * @param {Node} node
 * @param {Set<string>} routers
 * @returns {(Use & { known: Node[] }) | undefined} a list of dependencies with a router in it
 */
function listOf(node, routers) {
  if (node.type !== 'ArrayExpression') return undefined;
  const known = node.elements.filter((/** @type {Node | null} */ one) => routers.has(one?.name));
  const isPlain = node.elements.every((/** @type {Node | null} */ one) =>
    ['Identifier', 'MemberExpression'].includes(one?.type ?? ''),
  );
  if (known.length === 0 || !isPlain) return undefined;
  const others = node.elements.filter((/** @type {Node} */ one) => !known.includes(one));
  const edits = (/** @type {string} */ text) => [
    replace(
      node,
      `[${others.map((/** @type {Node} */ one) => text.slice(one.start, one.end)).join(', ')}]`,
    ),
  ];
  return { edits, known };
}
