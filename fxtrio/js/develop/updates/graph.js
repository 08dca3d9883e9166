/** What Vite knows of the modules of a file. */

/** @typedef {import('vite').ViteDevServer} Server */
/** @typedef {import('vite').EnvironmentModuleNode} Node */
/** @typedef {import('vite').EnvironmentModuleGraph} Graph */

/** Modules that a document names at most. */
const MOST_NAMED = 100;

/** Modules whose URL is the path of their file. */
const PLAIN = /^[\w./@-]+\.(m?[jt]sx?|css|s[ac]ss|less|styl|stylus|pcss|postcss)$/;

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

/**
 * Return the URLs of the files below `root` that modules import, one from the other, as browsers
 * ask for them: they would learn of each from the one before.
 *
 * @param {readonly (Node | undefined)[]} modules of renders
 * @param {Pick<Graph, 'urlToModuleMap'>} client
 * @param {string} root
 */
export function importedUrls(modules, client, root) {
  /** @type {Set<Node>} */
  const found = new Set();
  const visit = (/** @type {Node} */ module) => {
    const imported = new Set(module.transformResult?.deps); // none that is imported later
    for (const next of module.importedModules) {
      const { id, file, url } = next;
      const isOwn = id === file && id?.startsWith(`${root}/`) && !id.includes('/node_modules/');
      if (!isOwn || !imported.has(url) || !PLAIN.test(url)) continue;
      if (found.has(next) || modules.includes(next) || found.size >= MOST_NAMED) continue;
      found.add(next);
      visit(next);
    }
  };
  for (const module of modules) if (module !== undefined) visit(module);
  return [...found].map(({ url }) => {
    const version = client.urlToModuleMap.get(url)?.lastHMRTimestamp ?? 0;
    return version > 0 ? `${url}?t=${version}` : url;
  });
}
