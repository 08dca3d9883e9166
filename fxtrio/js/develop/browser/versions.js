/**
 * Which version of each module this document has, and which one `fx dev` has told of. Vite's client
 * forgets an update of a module that is still on its way, and one that fails.
 */

/**
 * @typedef {{ path: string, acceptedPath: string, timestamp: number, style?: { id: string, text: string }, [more: string]: unknown }} Update
 *   `style` is all there is of the module of a stylesheet
 */
/** @typedef {{ path: string, error: unknown }} Failure of the update of a module */

/** What browsers say of a module whose text they could not get: Chromium, Firefox, Safari. */
const UNFETCHED =
  /^(?:Failed to fetch|error loading) dynamically imported module|^Importing a module script failed/;

/**
 * Versions are Vite's time stamps, which only grow whatever the clock of the day is set to; 0 is that
 * of a URL without one.
 */
export class Versions {
  /** @type {Map<string, number>} the last version that was told, by path */
  #told = new Map();
  /** @type {Map<string, number>} the newest version that has come to life, by path */
  #newest = new Map();
  /** @type {Set<string>} paths of modules that came to life after a newer version was told */
  #old = new Set();
  /** @type {Map<string, Failure>} that nobody has taken, by path */
  #failures = new Map();
  /** @type {Set<string>} paths of modules whose last update has failed */
  #unloaded = new Set();
  /** @type {((path: string) => void) | null} */
  #report = null;

  /** Paths of modules whose last update has failed. */
  get unloaded() {
    return [...this.#unloaded];
  }

  /**
   * Call `report` with the path of each module that is of before an update, or may be. An update
   * must follow.
   *
   * @param {(path: string) => void} report
   */
  reportOld(report) {
    this.#report = report;
    this.#old.forEach(report);
    this.#old.clear();
  }

  /**
   * An update has been told, maybe once more: return it with the version that was told last, as
   * browsers keep what they have loaded for the one before; or with a newer one that has come to
   * life already. A module that takes updates imports itself for React Fast Refresh, in its newest
   * version: loaded for this update, it would come to life after that one, and be reported as old.
   * Each report makes another update, and they would never end.
   *
   * @param {Update} update
   */
  tell(update) {
    const { acceptedPath, timestamp } = update;
    const newest = { ...update, timestamp: Math.max(timestamp, this.newestOf(acceptedPath)) };
    this.#told.set(acceptedPath, newest.timestamp);
    return newest;
  }

  /**
   * Return the version of a module that was told last.
   *
   * @param {string} path
   */
  announcedOf(path) {
    return this.#told.get(path) ?? 0;
  }

  /**
   * Return the newest version of a module that was told, or has come to life.
   *
   * @param {string} path
   */
  newestOf(path) {
    return Math.max(this.announcedOf(path), this.#newest.get(path) ?? 0);
  }

  /**
   * A module has come to life. It may have been on its way when an update of it was told, which
   * Vite's client has not acted on; or its components have taken the place of newer ones.
   *
   * @param {string} path
   * @param {number} version
   */
  live(path, version) {
    const newest = this.newestOf(path);
    this.#newest.set(path, Math.max(version, newest));
    if (version >= newest) return;
    if (this.#report === null) this.#old.add(path);
    else this.#report(path);
  }

  /**
   * Load the module of an update.
   *
   * @template Module
   * @param {Update} update
   * @param {() => Promise<Module>} load
   * @returns {Promise<Module>}
   */
  async load({ acceptedPath }, load) {
    try {
      const module = await load();
      this.forget([acceptedPath]);
      return module;
    } catch (error) {
      this.#unloaded.add(acceptedPath);
      this.#failures.set(acceptedPath, { path: acceptedPath, error });
      throw error;
    }
  }

  /** Return what has failed since the last call. */
  takeFailures() {
    const failures = [...this.#failures.values()];
    this.#failures.clear();
    return failures;
  }

  /**
   * Modules have been loaded, or nobody imports them any more.
   *
   * @param {readonly string[]} paths
   */
  forget(paths) {
    for (const path of paths) {
      for (const known of [this.#old, this.#unloaded, this.#failures]) known.delete(path);
    }
  }
}

/** Those of this document. */
export const versions = new Versions();

/**
 * Whether a module was not evaluated, since its text could not be had: who made it says why.
 *
 * @param {unknown} error
 */
export function isUnfetched(error) {
  return error instanceof TypeError && UNFETCHED.test(error.message);
}

/**
 * Follow what Vite's client does.
 *
 * @param {any} client its `HMRClient`
 * @param {any} Context its `HMRContext`, which modules have as `import.meta.hot`
 * @param {(id: string, text: string) => void} updateStyle
 * @param {Versions} [followed]
 */
export function follow(client, Context, updateStyle, followed = versions) {
  const { importUpdatedModule, queueUpdate, fetchUpdate } = client;
  client.queueUpdate = (/** @type {Update} */ update) =>
    queueUpdate.call(client, followed.tell(update));
  client.importUpdatedModule = async (/** @type {Update} */ update) => {
    const module = client.hotModulesMap.get(update.path);
    const callbacks = module?.callbacks;
    const { style, acceptedPath, timestamp } = update;
    const load = async () => {
      if (style === undefined) return importUpdatedModule(update);
      updateStyle(style.id, style.text);
      followed.live(acceptedPath, timestamp);
    };
    try {
      return await followed.load(update, load);
    } catch (error) {
      // A module that throws has taken them back, and not come to say what takes the next update.
      if (module !== undefined) module.callbacks = callbacks;
      throw error;
    }
  };
  // What one module throws when it is disposed of, or takes an update, is no matter of the others.
  client.fetchUpdate = async (/** @type {Update} */ update) => {
    try {
      const take = await fetchUpdate.call(client, update);
      return take && (() => reported(take));
    } catch (error) {
      reportError(error);
    }
  };
  /**
   * Modules call it when they have been evaluated.
   *
   * @param {string} url
   */
  Context.prototype.loaded = function loaded(url) {
    followed.live(this.ownerPath, Number(/[?&]t=(\d+)/.exec(url)?.[1] ?? 0));
  };
}

/** @param {() => void} act */
function reported(act) {
  try {
    act();
  } catch (error) {
    reportError(error);
  }
}
