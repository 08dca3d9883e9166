/**
 * Files whose modules browsers could not load: when they are told of again. Pure.
 *
 * Mostly the next change puts them right. But a browser may say so late, when that change has been
 * told already: then nothing would come any more.
 */

export class Unloaded {
  /** @type {Set<string>} */
  #files = new Set();
  /** @type {Map<string, number>} versions of the modules that were told again, by file */
  #again = new Map();
  /** Number of the last message before the last changes. */
  #begun = 0;
  /** Number of the last message about them. */
  #told = 0;

  /**
   * Changes are about to be told: return the files that may be right with them.
   *
   * @param {number} number of the last message
   */
  begin(number) {
    this.#begun = number;
    const files = [...this.#files];
    this.#files.clear();
    return files;
  }

  /**
   * Changes have been told.
   *
   * @param {number} number of the last message
   */
  end(number) {
    this.#told = number;
  }

  /**
   * A browser could not load the module of a file. Return whether other changes have been told
   * since: they may have put it right. Where it was told again for another browser, this one hears
   * of it as well: told once for each of them, it would change while they load it.
   *
   * @param {string} file
   * @param {number} number of the message of the update that has failed
   * @param {number} [version] the newest of the module that the browser knows, if it is known
   */
  add(file, number, version = NaN) {
    if (version < (this.#again.get(file) ?? 0)) return false;
    this.#files.add(file);
    return number <= this.#begun || number < this.#told;
  }

  /**
   * Return whether nobody has told of a file since it was added, which somebody does now.
   *
   * @param {string} file
   */
  take(file) {
    return this.#files.delete(file);
  }

  /**
   * The module of a file has been told again.
   *
   * @param {string} file
   * @param {number} version
   */
  reportedAgain(file, version) {
    this.#again.set(file, version);
  }
}
