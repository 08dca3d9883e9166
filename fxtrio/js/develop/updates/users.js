/** Which page files need a module: they import it, or something that imports it. */

/**
 * Return their absolute paths, as far as they were made: nobody has shown others.
 *
 * @param {import('vite').ViteDevServer} server
 * @param {import('../site.js').Site} site
 * @param {string} file absolute path, or id of a page file's module
 * @returns {string[]}
 */
export function pagesThatNeed(server, site, file) {
  /** @type {Set<string>} */
  const pages = new Set();
  const path = file.split('?', 1)[0].replace(/\.(fxl|md)$/, '.$1.tsx');
  note(path);
  for (const { moduleGraph } of Object.values(server.environments)) {
    const seen = new Set(moduleGraph.getModulesByFile(path));
    for (const module of seen) {
      note(module.id);
      for (const importer of module.importers) seen.add(importer);
    }
  }
  return [...pages];

  /** @param {string | null} id */
  function note(id) {
    const source = id === null ? null : site.sourceOf(id);
    if (id !== null && source !== null) pages.add(id.replace(/\.tsx$/, ''));
  }
}
