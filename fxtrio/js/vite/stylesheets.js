/** Stylesheets: a mistake in one is reported with its file, and paths of the app get its base. */

import { createRequire } from 'node:module';
import path from 'node:path';

import { withBase } from '../client/navigation/urls.js';

const STYLE = /\.css(\?|$)/;

export class Stylesheets {
  /** @type {Map<string, string>} what each file has become, before all are joined and minified */
  #texts = new Map();
  #toolchain;

  /** @param {string} toolchain folder */
  constructor(toolchain) {
    this.#toolchain = toolchain;
  }

  /**
   * Notes the texts: behind what compiles a stylesheet, before what makes a module of it.
   *
   * @returns {import('vite').Plugin}
   */
  get plugin() {
    const texts = this.#texts;
    return {
      name: 'fx:stylesheets',
      transform(code, id) {
        if (STYLE.test(id)) texts.set(id.split('?', 1)[0], code);
        return null;
      },
    };
  }

  /**
   * Give an error the file and place that it lacks, when it is about a stylesheet: the minifier
   * knows only the text of all of them.
   *
   * @param {any} error
   */
  place(error) {
    if (error?.id !== undefined || error?.loc?.file !== undefined) return;
    for (const [file, text] of this.#texts) {
      const found = this.#mistakeIn(file, text);
      if (found === null || !String(error?.message).includes(found.message)) continue;
      error.id = file;
      error.loc = { file, line: found.loc.line, column: found.loc.column - 1 };
      return;
    }
  }

  /**
   * @param {string} file
   * @param {string} text
   * @returns {{ message: string, loc: { line: number, column: number } } | null}
   */
  #mistakeIn(file, text) {
    const require = createRequire(path.join(this.#toolchain, 'package.json'));
    const vite = createRequire(require.resolve('vite'));
    try {
      vite('lightningcss').transform({ filename: file, code: Buffer.from(text), minify: true });
      return null;
    } catch (error) {
      const found = /** @type {any} */ (error);
      return found?.loc === undefined ? null : found;
    }
  }
}

/**
 * A path of the app in a stylesheet, behind what must not be taken for one: comments and texts.
 * Minified, `image-set(url(/a.png) 1x)` is `image-set("/a.png" 1x)`, so brackets are followed.
 */
const PATHS =
  /\/\*[^]*?\*\/|(url\(\s*["']?)(\/(?!\/)[^)]*)|(image-set)?\(|\)|("|')(?:(?!\4)[^\\\n]|\\[^])*\4/gi;

/** The same where the stylesheet is a text of a module. */
const QUOTED_PATHS = /(url\(\s*(?:\\?["'])?)(\/(?!\/)[^\s"'\\)]*)/gi;

/**
 * Return a stylesheet that names paths of the app from its own place, the folder `_fx` of the app.
 * `@import "/a.css"` is not among them: Vite puts that file in.
 *
 * @param {string} css
 * @param {string} base of the app; paths may have it already
 */
export function relativePaths(css, base) {
  let depth = 0;
  let set = Infinity; // how deep in brackets the images of a set are
  return css.replace(PATHS, (found, before, href, images, quote) => {
    if (href !== undefined) {
      depth += 1;
      return before + relativePath(href, base);
    }
    if (quote !== undefined) {
      const isPath = depth >= set && /^.\/(?!\/)/.test(found);
      return isPath ? quote + relativePath(found.slice(1), base) : found;
    }
    if (found === ')') {
      depth = Math.max(depth - 1, 0);
      if (depth < set) set = Infinity;
    } else if (found.endsWith('(')) {
      depth += 1;
      if (images !== undefined) set = Math.min(set, depth);
    }
    return found;
  });
}

/**
 * @param {string} href
 * @param {string} base
 */
function relativePath(href, base) {
  const inside = withBase(href, base) === href ? href.slice(base.length) : href;
  return inside.startsWith('/') ? `..${inside}` : `../${inside}`;
}

/**
 * Let an app with its stylesheets be served below any path.
 *
 * @param {string} base
 * @returns {import('vite').Plugin}
 */
export function builtPathsPlugin(base) {
  return {
    name: 'fx:paths',
    enforce: 'post',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue;
        file.source = relativePaths(Buffer.from(file.source).toString('utf8'), base);
      }
    },
  };
}

/**
 * The same in development, where stylesheets are parts of documents: paths get the base, unless
 * they have it, as those have that Vite has found the files of.
 *
 * @param {string} base
 * @returns {import('vite').Plugin[]}
 */
export function developedPathsPlugins(base) {
  if (base === '') return [];
  const name = 'fx:paths';
  const handler = (/** @type {string} */ code) => ({
    code: code.replace(QUOTED_PATHS, (_, before, href) => before + withBase(href, base)),
    map: null,
  });
  return [{ name, enforce: 'post', transform: { order: 'post', filter: { id: STYLE }, handler } }];
}
