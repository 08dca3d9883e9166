/**
 * The components of islands, on the server: which module a browser loads for each. The build adds to
 * every module that has islands what it shows in them (`scripts/islands-plugin.js`).
 */

/** @type {{ component: () => unknown, key: string }[]} */
const waiting = [];
/** @type {Map<unknown, Set<string>>} */
const keys = new Map();

/**
 * Make a component known.
 *
 * @param {() => unknown} component called later: in circles of imports it is not there yet
 * @param {string} key `path of the module#name of the export`
 */
export function register(component, key) {
  waiting.push({ component, key });
}

/**
 * Return the keys of a component: several, where modules import it in different ways.
 *
 * @param {unknown} type
 * @returns {string[]} empty for one that is not known
 */
export function keysOf(type) {
  for (const { component, key } of waiting.splice(0)) {
    const found = component();
    keys.set(found, (keys.get(found) ?? new Set()).add(key));
  }
  return [...(keys.get(type) ?? [])];
}
