/** `import lake from './lake.jpg?picture'`: what `<Image>` needs, and the files that it names. */

import fs from 'node:fs';
import path from 'node:path';

import { IS_PICTURE, PictureProcess } from './process.js';

/** @typedef {import('./process.js').Described} Described */
/** @typedef {import('./process.js').Picture} Picture */

/** The least width of the file for those who know no `srcset`, if there is one (pixels). */
const PLAIN = 1000;

const IMMUTABLE = 'public, max-age=31536000, immutable';

export class Pictures {
  /** By key: nothing else is served. @type {Map<string, Described>} */
  #described = new Map();
  /** Of a build, which asks for each twice. @type {Map<string, Promise<Described>>} */
  #ofBuild = new Map();
  #process;
  #base;

  /** @param {{ python: string, root: string, base: string }} settings */
  constructor({ python, root, base }) {
    this.#process = new PictureProcess(python, root);
    this.#base = `${base}@pictures/`;
  }

  /** End the process that makes pictures. */
  close() {
    this.#process.close();
  }

  /**
   * Return the plug-in. For a build, all files of a picture are made and become files of the
   * bundle; in development each is made when a browser loads it (`respond`).
   *
   * @param {boolean} building
   * @returns {import('vite').Plugin}
   */
  plugin(building) {
    const look = (/** @type {string} */ id) => (building ? this.#once(id) : this.#look(id, []));
    const moduleOf = building ? bundled : (/** @type {Described} */ one) => this.#served(one);
    return {
      name: 'fx:pictures',
      enforce: 'pre',
      resolveId: {
        filter: { id: IS_PICTURE },
        async handler(id, importer, options) {
          const found = await this.resolve(id, importer, { ...options, skipSelf: true });
          if (found === null || !importer) return found;
          await look(found.id).catch((error) => {
            throw Object.assign(error, { importer, specifier: id });
          });
          return found;
        },
      },
      load: {
        filter: { id: IS_PICTURE },
        async handler(id) {
          this.addWatchFile(fileOf(id));
          return { code: moduleOf(await look(id)), moduleType: 'js' };
        },
      },
    };
  }

  /**
   * Send a file of a picture, and return whether the URL is one of these.
   *
   * @param {string} url
   * @param {import('node:http').ServerResponse} response
   */
  async respond(url, response) {
    if (!url.startsWith(this.#base)) return false;
    const [key, name] = url.slice(this.#base.length).split('/');
    const described = this.#described.get(key);
    const candidate = described?.picture.candidates.find((one) => one.name === name);
    if (described === undefined || candidate === undefined) return false;
    try {
      const { file, most } = described;
      const answer = await this.#process.ask(file, most, [name]);
      if (answer.problem !== undefined || answer.picture.key !== key) return false;
      const content = await fs.promises.readFile(path.join(answer.folder, name));
      response.setHeader('content-type', candidate.type);
      response.setHeader('cache-control', IMMUTABLE);
      response.end(content);
    } catch (error) {
      response.statusCode = 500;
      response.end(String(error));
    }
    return true;
  }

  /** @param {string} id */
  #once(id) {
    const answer = this.#ofBuild.get(id) ?? this.#look(id, 'all');
    this.#ofBuild.set(id, answer);
    return answer;
  }

  /**
   * @param {string} id
   * @param {string[] | 'all'} make
   * @returns {Promise<Described>}
   */
  async #look(id, make) {
    const found = await this.#process.look(id, make);
    if (found.problem !== undefined) {
      const { message, remedy } = found.problem;
      throw new Error(`${message}.${remedy && ` ${remedy}.`}`);
    }
    this.#described.set(found.picture.key, found);
    return found;
  }

  /** @param {Described} described */
  #served({ picture }) {
    const urls = picture.candidates.map(({ name }) =>
      JSON.stringify(`${this.#base}${picture.key}/${name}`),
    );
    return moduleText([], urls, picture);
  }
}

/** @param {string} id */
function fileOf(id) {
  return id.split('?', 1)[0];
}

/** @param {Described} described */
function bundled({ picture, folder }) {
  const names = picture.candidates.map((_one, index) => `file${index}`);
  const imports = picture.candidates.map(({ name }, index) => {
    const file = path.join(folder, name).split(path.sep).join('/');
    return `import ${names[index]} from ${JSON.stringify(`${file}?url&no-inline`)};`;
  });
  return moduleText(imports, names, picture);
}

/**
 * Return a module whose default export is the `Picture` of `fx/client`.
 *
 * @param {string[]} imports
 * @param {string[]} urls expressions, one for each candidate
 * @param {Picture} picture
 */
function moduleText(imports, urls, { width, height, candidates, placeholder }) {
  const types = [...new Set(candidates.map(({ type }) => type))];
  const sets = types.map((type) => {
    const of = candidates.flatMap((one, index) => (one.type === type ? [index] : []));
    const listed = of.map((index) => `\${${urls[index]}} ${candidates[index].width}w`);
    return { type, of, srcSet: of.length > 1 ? `\`${listed.join(', ')}\`` : undefined };
  });
  const last = sets[sets.length - 1]; // what all browsers know
  const plain = last.of.find((index) => candidates[index].width >= PLAIN) ?? last.of.at(-1) ?? 0;
  const sources = sets.slice(0, -1).map(({ type, of, srcSet }) => {
    return `{ type: ${JSON.stringify(type)}, srcSet: ${srcSet ?? urls[of[0]]} }`;
  });
  const fields = [
    `src: ${urls[plain]}`,
    ...[`width: ${width}`, `height: ${height}`],
    ...(last.srcSet === undefined ? [] : [`srcSet: ${last.srcSet}`]),
    ...(sources.length === 0 ? [] : [`sources: [${sources.join(', ')}]`]),
    ...(placeholder === '' ? [] : [`placeholder: ${JSON.stringify(placeholder)}`]),
  ];
  return [...imports, `export default { ${fields.join(', ')} };`, ''].join('\n');
}
