/**
 * The components of islands, on the server: which module a browser loads for each. The build adds to
 * every module that has islands what it shows in them (`scripts/islands-plugin.js`).
 */

/** @type {{ component: () => unknown, key: string }[]} */
const waiting = [];
/** @type {Map<unknown, string>} */
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
 * Return the key of a component.
 *
 * @param {unknown} type
 * @returns {string | undefined}
 */
export function keyOf(type) {
  for (const { component, key } of waiting.splice(0)) keys.set(component(), key);
  return keys.get(type);
}
