/** Scripts that `Script` elements ask for: each is loaded and run once in a document. */

/** Runs scripts in one document. */
export class Scripts {
  /** @type {Map<string, Promise<void>>} by `src` or id */
  #started = new Map();
  #document;
  #nonce;

  /**
   * @param {Document} document
   * @param {string} nonce
   */
  constructor(document, nonce) {
    this.#document = document;
    this.#nonce = nonce;
  }

  /**
   * Run a script unless it has run. Resolves when it has; rejects when it cannot be loaded.
   *
   * @param {string} key what tells it from other scripts
   * @param {Record<string, string>} attributes
   * @param {string} text of an inline script
   * @returns {Promise<void>}
   */
  run(key, attributes, text) {
    let started = this.#started.get(key);
    if (started === undefined) {
      started = this.#start(attributes, text);
      this.#started.set(key, started);
    }
    return started;
  }

  /**
   * @param {Record<string, string>} attributes
   * @param {string} text
   * @returns {Promise<void>}
   */
  #start(attributes, text) {
    const script = this.#document.createElement('script');
    for (const [name, value] of Object.entries(attributes)) script.setAttribute(name, value);
    if (this.#nonce) script.setAttribute('nonce', this.#nonce);
    if (attributes.src === undefined) {
      script.textContent = text;
      this.#document.body.append(script);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`Script: ${attributes.src} could not be loaded.`));
      script.addEventListener('load', () => resolve(), { once: true });
      script.addEventListener('error', failed, { once: true });
      this.#document.body.append(script);
    });
  }
}
