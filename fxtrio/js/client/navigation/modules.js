/** The code and stylesheets of pages: loaded by URL, each once. */

/** @typedef {import('../types.js').Module} Module */
/** @typedef {import('../types.js').PageInfo} PageInfo */

/** How long a page waits for its stylesheets (ms): one that hangs must not hold it for ever. */
const STYLES_MS = 5000;

/** Loads what pages consist of into one document. */
export class Modules {
  /** @type {Map<string, Promise<Module>>} for `use`, which needs the same promise each time */
  #standIns = new Map();
  /** @type {Set<string>} stylesheets of the page that is shown */
  #styles;
  #document;
  #importModule;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {(url: string) => Promise<Module>} options.importModule
   * @param {readonly string[]} options.styles URLs of those that the document came with
   */
  constructor({ document, importModule, styles }) {
    this.#document = document;
    this.#importModule = importModule;
    this.#styles = new Set(styles);
  }

  /**
   * Return the modules of a page when its stylesheets are there too.
   *
   * @param {PageInfo} page
   * @returns {Promise<import('../types.js').Parts>}
   */
  async load(page) {
    const { loading } = page;
    const [inner, layouts, fallback] = await Promise.all([
      this.#importModule(page.module),
      Promise.all(page.layouts.map((layout) => this.#importModule(layout.module))),
      loading === undefined ? null : this.#importModule(loading.module),
      this.#addStyles(page.css ?? []),
    ]);
    return { page: inner, layouts, loading: fallback };
  }

  /**
   * Let the browser fetch what a page needs, without running it.
   *
   * @param {PageInfo} page
   */
  preload({ module, layouts, preload = [], css = [] }) {
    const modules = [module, ...layouts.map((layout) => layout.module), ...preload];
    for (const url of modules) this.#hint('modulepreload', url);
    for (const url of css) this.#hint('preload', url, 'style');
  }

  /**
   * Return the module of an error page; the same promise for the same file.
   *
   * @param {import('../types.js').StandIn} standIn
   * @returns {Promise<Module>}
   */
  standIn(standIn) {
    let module = this.#standIns.get(standIn.module);
    if (module === undefined) {
      const styles = this.#addStyles(standIn.css ?? []);
      module = Promise.all([this.#importModule(standIn.module), styles]).then(([found]) => found);
      this.#standIns.set(standIn.module, module);
    }
    return module;
  }

  /**
   * Remove the stylesheets of the page before that this one does not have.
   *
   * @param {PageInfo} page the one that is shown now
   */
  keepStyles(page) {
    const needed = new Set(page.css ?? []);
    for (const url of this.#styles) {
      if (!needed.has(url)) this.#find('stylesheet', url)?.remove();
    }
    this.#styles = needed;
  }

  /**
   * @param {readonly string[]} urls
   * @returns {Promise<unknown>}
   */
  #addStyles(urls) {
    const missing = urls.filter((url) => this.#find('stylesheet', url) === undefined);
    return Promise.all(missing.map((url) => this.#addStyle(url)));
  }

  /** @param {string} url */
  #addStyle(url) {
    const link = this.#document.createElement('link');
    link.rel = 'stylesheet';
    link.href = url;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, STYLES_MS);
      const done = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
      link.addEventListener('load', done, { once: true });
      link.addEventListener('error', done, { once: true });
      this.#document.head.append(link);
    });
  }

  /**
   * @param {string} rel
   * @param {string} url
   * @param {string} [as]
   */
  #hint(rel, url, as) {
    if (this.#find(rel, url) !== undefined || this.#find('stylesheet', url) !== undefined) return;
    const link = this.#document.createElement('link');
    link.rel = rel;
    link.href = url;
    if (as !== undefined) link.setAttribute('as', as);
    this.#document.head.append(link);
  }

  /**
   * @param {string} rel
   * @param {string} url
   * @returns {HTMLLinkElement | undefined}
   */
  #find(rel, url) {
    const links = this.#document.querySelectorAll(`link[rel="${rel}"]`);
    return /** @type {HTMLLinkElement[]} */ ([...links]).find(
      (link) => link.getAttribute('href') === url,
    );
  }
}
