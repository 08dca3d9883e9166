/** What a module imports, but for types. Pure. */

/** @typedef {ReturnType<typeof import('vite').parseSync>['module']} Module */
/**
 * What is imported, where that stands between its quotes (offset), and whether it is imported when
 * the code comes to it.
 *
 * @typedef {{ start: number, value: string, later: boolean }} Request
 */

/**
 * Return what a module imports, by place.
 *
 * @param {Module} module what the parser knows of imports
 * @param {string} text
 * @returns {Request[]}
 */
export function requestsOf({ staticImports, staticExports, dynamicImports }, text) {
  const imported = staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest);
  const exported = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, moduleRequest }) => (isType || !moduleRequest ? [] : [moduleRequest]));
  const now = [...imported, ...exported].map(({ start, value }) => ({
    start,
    value,
    later: false,
  }));
  const later = dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const [, , value] = /^(['"])([^'"\\]*)\1$/.exec(text.slice(start, end)) ?? [];
    return value === undefined ? [] : [{ start, value, later: true }];
  });
  return [...now, ...later].sort((one, other) => one.start - other.start);
}
