/** What a UI half declares at its outermost level. Pure. */

import { boundNames } from '../check/tree.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {{ start: number, end: number }} Span */
/** @typedef {'function' | 'class' | 'variable' | 'type'} Kind */
/** @typedef {{ name: string, kind: Kind, exported: boolean, whole: Span, start: number, end: number }} Symbol */

/** @type {Record<string, Kind>} */
const KINDS = {
  FunctionDeclaration: 'function',
  ClassDeclaration: 'class',
  TSTypeAliasDeclaration: 'type',
  TSInterfaceDeclaration: 'type',
  TSEnumDeclaration: 'type',
};

const COMPONENT_VALUES = new Set([
  'ArrowFunctionExpression',
  'FunctionExpression',
  'CallExpression',
]);

/**
 * Return the symbols of a file in their order, with the places of their names.
 *
 * @param {Node} program
 * @returns {Symbol[]}
 */
export function symbolsOf(program) {
  return program.body.flatMap((/** @type {Node} */ statement) => {
    const exported = statement.type.startsWith('Export');
    const declared = exported ? statement.declaration : statement;
    if (!declared) return [];
    const more = { exported, whole: { start: statement.start, end: statement.end } };
    if (declared.type === 'VariableDeclaration') return variablesOf(declared, more);
    const kind = KINDS[declared.type];
    if (kind !== undefined && declared.id) return [{ ...named(declared.id), kind, ...more }];
    if (statement.type !== 'ExportDefaultDeclaration') return [];
    const isFunction = kind === 'function' || COMPONENT_VALUES.has(declared.type);
    const { start } = statement;
    const place = { start, end: start + 'export default'.length };
    return [{ name: 'default', kind: isFunction ? 'function' : 'variable', ...more, ...place }];
  });
}

/**
 * @param {Node} declaration
 * @param {{ exported: boolean, whole: Span }} more
 * @returns {Symbol[]}
 */
function variablesOf({ declarations }, more) {
  return declarations.flatMap((/** @type {Node} */ { id, init }) => {
    const kind =
      COMPONENT_VALUES.has(init?.type) && /^[A-Z]/.test(id.name ?? '') ? 'function' : 'variable';
    if (id.type === 'Identifier') return [{ ...named(id), kind, ...more }];
    const { start, end } = id;
    return boundNames(id).map((name) => ({ name, kind, ...more, start, end }));
  });
}

/** @param {Node} id */
function named({ name, start, end }) {
  return { name, start, end: Math.min(end, start + name.length) };
}
