/** Objects whose keys are those of an application: any names, `__proto__` and `constructor` too. */

/** @typedef {import('../types.js').Json} Json */

/**
 * Give an object a key. An assignment to `__proto__` would give it another prototype instead.
 *
 * @param {Json} object
 * @param {string} key
 * @param {unknown} value
 */
export function put(object, key, value) {
  Object.defineProperty(object, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/**
 * Return the data of layouts in one object: that of the innermost counts.
 *
 * @param {(null | true | Json)[]} layouts
 * @returns {Json}
 */
export function merged(layouts) {
  return layouts.reduce(
    (/** @type {Json} */ all, own) => ({ ...all, .../** @type {any} */ (own) }),
    {},
  );
}
