/**
 * Compares pages with and without their scripts: a page that a build would send without scripts must
 * not change when they run.
 */

import { loadTools } from '../../check/checker.js';
import { Proof } from '../../scripts/proof.js';
import { Level, writeLog } from '../../worker/log.cjs';

/** @typedef {import('../../vite/plan.js').Plan} Plan */

/** Answers browsers whose page has changed while it came to life. */
export class PlainPages {
  #settings;
  #site;
  #client;

  /**
   * @param {Pick<import('../settings.js').Settings, 'root' | 'folder' | 'toolchain'>} settings
   * @param {Pick<import('../site.js').Site, 'viewAt' | 'urlOf'>} site
   * @param {import('vite').ViteDevServer} server
   * @param {Pick<import('../browsers.js').Browsers, 'on'>} browsers
   */
  constructor(settings, site, server, browsers) {
    this.#settings = settings;
    this.#site = site;
    this.#client = server.environments.client;
    browsers.on('fx:changed', async (/** @type {any} */ { id, module, change }) => {
      const view = this.#site.viewAt(Number(id));
      if (view === undefined || this.#site.urlOf(view.module) !== module) return;
      if (view.scripts === 'always' || view.loading !== null) return; // which streams
      if (await this.#needsScripts(view)) return;
      writeLog(Level.WARNING, warningOf(view.module, String(change).slice(0, 200)));
    });
  }

  /** @param {Plan['views'][number]} view */
  async #needsScripts(view) {
    const { root, folder, toolchain } = this.#settings;
    const modules = [view.module, ...view.layouts.map(([source]) => source)];
    const plan = /** @type {Plan} */ ({ root, staging: folder, modules, views: [view] });
    const proof = new Proof(await loadTools(toolchain), plan, async (specifier, importer) => {
      const found = await this.#client.pluginContainer.resolveId(specifier, importer);
      return found?.external ? undefined : found?.id;
    });
    const [reasons] = await proof.ofViews();
    return reasons.length > 0;
  }
}

/**
 * @param {string} source
 * @param {string} change
 */
function warningOf(source, change) {
  return (
    `${source}: 'fx build' finds no need for scripts in the code, but scripts change the page: ` +
    `${JSON.stringify(change)}. Write SCRIPTS = 'always', or render the same on both sides.`
  );
}
