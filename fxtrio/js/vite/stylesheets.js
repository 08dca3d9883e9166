/** The stylesheets of a build, so that a mistake in one is reported with its file. */

import { createRequire } from 'node:module';
import path from 'node:path';

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
