/** What Vite knows of the modules of a file. */

/** @typedef {import('vite').ViteDevServer} Server */

/**
 * Let the modules of a file be made anew when they are asked for.
 *
 * @param {Server} server
 * @param {string} file
 */
export function invalidateFile({ environments }, file) {
  for (const { moduleGraph } of Object.values(environments)) {
    for (const module of moduleGraph.getModulesByFile(file) ?? []) {
      moduleGraph.invalidateModule(module);
    }
  }
}

/**
 * Whether a file that comes or goes has been a module that nobody imports any more: Vite would
 * let all pages be loaded anew.
 *
 * @param {Server} server
 * @param {string} file
 */
export function isForgotten({ environments }, file) {
  const modules = environments.client.moduleGraph.getModulesByFile(file);
  return modules !== undefined && [...modules].every(({ importers }) => importers.size === 0);
}
