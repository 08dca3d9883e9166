/** Page modules that have been updated since the document was loaded. */

/** @type {Map<string, object>} by URL */
export const latest = new Map();

/** @type {Set<(url: string, module: object) => void>} */
export const listeners = new Set();

/**
 * @param {string} url
 * @param {object} module
 */
export function accept(url, module) {
  latest.set(url, module);
  for (const listener of listeners) listener(url, module);
}
