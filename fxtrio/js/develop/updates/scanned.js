/**
 * Stylesheets that are made of what other files say: Tailwind's hold the classes that it finds.
 */

/** @typedef {import('vite').EnvironmentModuleNode} Node */

/**
 * Return the files of the stylesheets that may be others now.
 *
 * @param {import('vite').EnvironmentModuleGraph} graph
 * @param {(url: string) => boolean} isStyle
 * @param {readonly string[]} changed absolute paths of files with another text
 * @param {boolean} came whether files have come, which nobody has scanned
 * @returns {Set<string>}
 */
export function scanningStyles(graph, isStyle, changed, came) {
  /** @type {Set<string>} */
  const found = new Set();
  const add = (/** @type {Node} */ node) => {
    if (node.file !== null && isStyle(node.url)) found.add(node.file);
  };
  for (const file of changed) {
    for (const node of graph.getModulesByFile(file) ?? []) node.importers.forEach(add);
  }
  if (!came) return found;
  for (const node of graph.idToModuleMap.values()) {
    const scans = [...node.importedModules].some(
      ({ type, url }) => type === 'asset' && !isStyle(url),
    );
    if (scans) add(node);
  }
  return found;
}
