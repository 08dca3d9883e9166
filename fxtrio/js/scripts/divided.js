/** Packages that give servers other modules than browsers, whose pages show something else with scripts. */

import fs from 'node:fs';
import path from 'node:path';

/** Conditions under which a package does so. */
const CONDITIONS = new Set(['browser', 'node', 'worker', 'workerd', 'edge-light']);

/** Errors of a file that is not there. */
const MISSING = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Which fields of a package.json tell servers and browsers apart: `browser`, and conditions in
 * `exports` and `imports`.
 *
 * @typedef {{ browser: boolean, exports: boolean, imports: boolean }} Fields
 */

/** @type {Fields} */
const NONE = { browser: false, exports: false, imports: false };
/** Of a file that cannot be read: nothing is proved of its package. @type {Fields} */
const UNKNOWN = { browser: true, exports: true, imports: true };

/** What is known of folders. */
export class Divided {
  /** By folder. @type {Map<string, Fields>} */
  #known = new Map();

  /** @param {string} root folder of the project */
  constructor(root) {
    this.root = root;
  }

  /**
   * Whether an import may lead servers elsewhere: `exports` are those of the package that is
   * imported, `imports` those of the one that imports a name which begins with `#`, and either
   * may map files with `browser`.
   *
   * @param {string} specifier
   * @param {string} file that it leads browsers to
   * @param {string} importer
   */
  isBetween(specifier, file, importer) {
    const imported = this.#ofImported(specifier, file, importer);
    const importing = this.#of(path.dirname(importer));
    return (
      imported.browser ||
      imported.exports ||
      importing.browser ||
      (specifier.startsWith('#') && importing.imports)
    );
  }

  /**
   * Return the fields of the package that an import leads to. The link in `node_modules` says where
   * that begins, also where folders in it have names.
   *
   * @param {string} specifier
   * @param {string} file
   * @param {string} importer
   * @returns {Fields}
   */
  #ofImported(specifier, file, importer) {
    const top = packageFolder(specifier, path.dirname(importer));
    let folder = path.dirname(file);
    let found = this.#of(folder);
    if (top === undefined || !file.startsWith(top + path.sep)) return found;
    for (; folder !== top; folder = path.dirname(folder)) {
      found = either(found, this.#of(path.dirname(folder)));
    }
    return found;
  }

  /**
   * Return the fields of the package that has a folder. Folders in it may have a package.json of
   * their own, such as one that only has a `type`.
   *
   * @param {string} folder
   * @returns {Fields}
   */
  #of(folder) {
    if (path.basename(folder) === 'node_modules') return NONE;
    let found = this.#known.get(folder);
    if (found === undefined) {
      const manifest = manifestOf(folder);
      const own = fieldsOf(manifest);
      const above = path.dirname(folder);
      found =
        above === folder || this.#isTop(folder, manifest) ? own : either(own, this.#of(above));
      this.#known.set(folder, found);
    }
    return found;
  }

  /**
   * Whether a package begins at a folder: the project, or a workspace, which has a name. A package
   * in `node_modules` begins there, and folders in it may have names, too.
   *
   * @param {string} folder
   * @param {any} manifest its package.json
   */
  #isTop(folder, manifest) {
    if (manifest === undefined || folder.split(path.sep).includes('node_modules')) return false;
    return folder === this.root || typeof manifest?.name === 'string';
  }
}

/**
 * Return the folder of the package that a specifier names, undefined where it names none.
 *
 * @param {string} specifier
 * @param {string} folder of the importing file
 * @returns {string | undefined}
 */
function packageFolder(specifier, folder) {
  const [name] = specifier.match(/^(@[^/]+\/)?[^@./#][^/]*/) ?? [];
  if (name === undefined) return undefined;
  const link = path.join(folder, 'node_modules', name);
  if (fs.existsSync(link)) return fs.realpathSync(link);
  const above = path.dirname(folder);
  return above === folder ? undefined : packageFolder(specifier, above);
}

/**
 * Return the package.json of a folder: undefined where there is none, null for one that cannot be
 * read.
 *
 * @param {string} folder
 * @returns {any}
 */
function manifestOf(folder) {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  } catch (error) {
    return MISSING.has(/** @type {any} */ (error).code) ? undefined : null;
  }
}

/** @param {any} manifest @returns {Fields} */
function fieldsOf(manifest) {
  if (manifest === undefined) return NONE;
  if (manifest === null) return UNKNOWN;
  return {
    browser: Boolean(manifest.browser),
    exports: hasConditions(manifest.exports),
    imports: hasConditions(manifest.imports),
  };
}

/** @param {unknown} value @returns {boolean} */
function hasConditions(value) {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, one]) => CONDITIONS.has(key) || hasConditions(one));
}

/** @param {Fields} one @param {Fields} other @returns {Fields} */
function either(one, other) {
  return {
    browser: one.browser || other.browser,
    exports: one.exports || other.exports,
    imports: one.imports || other.imports,
  };
}
