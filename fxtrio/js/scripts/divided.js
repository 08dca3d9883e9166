/** Packages that give servers other modules than browsers, whose pages show something else with scripts. */

import fs from 'node:fs';
import path from 'node:path';

/** Conditions under which a package does so. */
const CONDITIONS = /"(browser|node|worker|workerd|edge-light)"\s*:/;

/** What is known of folders. */
export class Divided {
  /** By folder. @type {Map<string, boolean>} */
  #known = new Map();

  /**
   * Whether the import of a file by another may lead servers elsewhere. Names that begin with `#` are
   * those of the package that imports them.
   *
   * @param {string} file
   * @param {string} importer
   */
  isBetween(file, importer) {
    return this.#isIn(path.dirname(file)) || this.#isIn(path.dirname(importer));
  }

  /**
   * Whether a package.json says so, in a folder or above it: that of a package, of a folder in one, or
   * of a workspace, which a link in `node_modules` leads to.
   *
   * @param {string} folder
   * @returns {boolean}
   */
  #isIn(folder) {
    let found = this.#known.get(folder);
    if (found === undefined) {
      const above = path.dirname(folder);
      const isTop = above === folder || path.basename(folder) === 'node_modules';
      found = isDividing(path.join(folder, 'package.json')) || (!isTop && this.#isIn(above));
      this.#known.set(folder, found);
    }
    return found;
  }
}

/** @param {string} file that may not be there */
function isDividing(file) {
  return fs.existsSync(file) && CONDITIONS.test(fs.readFileSync(file, 'utf8'));
}
