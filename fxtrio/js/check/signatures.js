/** What the components and functions of `fx/client` take and give, read from its types. Pure. */

/** @typedef {import('./tree.js').Node} Node */

/**
 * Properties of an object; null stands for an object that may have any.
 *
 * @typedef {{ names: string[], element: string | null } | null} Shape
 *   `element` is the one whose attributes it has as well
 * @typedef {{ takes: Shape[], gives: Shape }} Signature `takes` has an entry for each parameter
 */

/**
 * Return the signatures of the functions that a declaration file exports, by name.
 *
 * @param {Node} program
 * @returns {Map<string, Signature>}
 */
export function signaturesOf(program) {
  const declared = program.body.map((/** @type {Node} */ one) => one.declaration ?? one);
  /** @type {Map<string, Node>} */
  const types = new Map();
  for (const one of declared) {
    if (one.type === 'TSInterfaceDeclaration') types.set(one.id.name, one.body);
    if (one.type === 'TSTypeAliasDeclaration') types.set(one.id.name, one.typeAnnotation);
  }
  /** @type {Map<string, Signature>} */
  const found = new Map();
  for (const { type, id, params, returnType } of declared) {
    if (type !== 'TSDeclareFunction') continue;
    const before = found.get(id.name); // of an overload
    const shapes = params.map((/** @type {Node} */ one) => shapeOf(typeOf(one), types));
    found.set(id.name, {
      takes: shapes.map((/** @type {Shape} */ shape, /** @type {number} */ index) =>
        before === undefined ? shape : joined([shape, before.takes[index]]),
      ),
      gives: shapeOf(returnType?.typeAnnotation, types),
    });
  }
  return found;
}

/** @param {Node} parameter */
function typeOf(parameter) {
  return parameter.typeAnnotation?.typeAnnotation;
}

/**
 * @param {Node | undefined} type
 * @param {Map<string, Node>} types those of the file, by name
 * @returns {Shape}
 */
function shapeOf(type, types) {
  const inner = (/** @type {Node} */ one) => shapeOf(one, types);
  switch (type?.type) {
    case 'TSParenthesizedType':
      return inner(type.typeAnnotation);
    case 'TSIntersectionType':
    case 'TSUnionType':
      return joined(type.types.map(inner));
    case 'TSFunctionType':
      return { names: [], element: null };
    case 'TSTypeLiteral':
      return membersOf(type.members);
    case 'TSInterfaceBody':
      return membersOf(type.body);
    case 'TSTypeReference': {
      const [first] = type.typeArguments?.params ?? [];
      const { name } = type.typeName;
      if (name === 'ComponentProps') return { names: [], element: first.literal.value };
      return inner(name === 'Omit' ? first : types.get(name));
    }
    default:
      return null;
  }
}

/**
 * @param {Node[]} members
 * @returns {Shape}
 */
function membersOf(members) {
  const names = members.map((one) => one.key?.name);
  return names.includes(undefined) ? null : { names, element: null };
}

/**
 * @param {Shape[]} shapes
 * @returns {Shape}
 */
function joined(shapes) {
  const all = shapes.filter((shape) => shape !== null);
  if (all.length < shapes.length) return null;
  const names = new Set(all.flatMap((shape) => shape.names));
  return { names: [...names], element: all.find((one) => one.element)?.element ?? null };
}
