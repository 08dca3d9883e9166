/** What can be sent to an island: properties that are the same when they come out of JSON. */

/**
 * Throw an error that names the first property that is not JSON.
 *
 * @param {Record<string, unknown>} props
 * @param {string} component its name
 * @param {string} [place] where it is shown
 */
export function requireJson(props, component, place = '') {
  const found = misfit(props, [], new Set());
  if (found === null) return;
  const [path, what] = found;
  throw new TypeError(
    `<Island>: the property '${path.join('.')}' of <${component}>${place && ` (${place})`} is ` +
      `${what}, which is not JSON. ` +
      'Pass text, numbers, booleans, null, or lists and objects of these.',
  );
}

/**
 * Return the path to the first value that JSON does not have, and what it is; null without one.
 *
 * @param {unknown} value
 * @param {string[]} path
 * @param {Set<unknown>} around the objects that hold it
 * @returns {[string[], string] | null}
 */
function misfit(value, path, around) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : [path, String(value)];
  if (typeof value !== 'object') return [path, `a ${typeof value}`];
  if (around.has(value)) return [path, 'an object that contains itself'];
  const kind = kindOf(value);
  if (kind !== null) return [path, kind];
  around.add(value);
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined && !Array.isArray(value)) continue; // as if it were not given
    const found = misfit(part, [...path, key], around);
    if (found !== null) return found;
  }
  around.delete(value);
  return null;
}

/**
 * Return what an object is; null for a list or a plain object.
 *
 * @param {object} value
 */
function kindOf(value) {
  if (Array.isArray(value)) return null;
  if ('$$typeof' in value) return 'an element';
  if ('then' in value) return 'a promise';
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return null;
  return `a ${prototype.constructor?.name ?? 'class'}`;
}

/**
 * Return the name of a component, as its author has written it.
 *
 * @param {any} type
 * @returns {string}
 */
export function nameOf(type) {
  return type.displayName ?? type.name ?? (type.type ? nameOf(type.type) : 'Component');
}
