/** Pictures that cannot be made, among what files import. Called by `../check/check.js`. */

import fs from 'node:fs';
import path from 'node:path';

import { placeOf } from '../check/checker.js';
import { IS_PICTURE, PictureProcess } from './process.js';

/**
 * Return what is wrong with the pictures that files import.
 *
 * @param {{ python: string, root: string, files: { path: string, text: string }[] }} order `files`
 *   are the page files; others are read
 * @param {Map<string, { resolved: [specifier: string, file: string][] }>} looked by file
 * @returns {Promise<import('../check/checker.js').Problem[]>}
 */
export async function pictureMistakes({ python, root, files }, looked) {
  const pictures = [...looked].flatMap(([source, { resolved }]) =>
    resolved
      .filter(([specifier]) => IS_PICTURE.test(specifier))
      .map(([specifier, file]) => ({ source, specifier, file })),
  );
  if (pictures.length === 0) return [];
  const process = new PictureProcess(python, root);
  try {
    const found = await Promise.all(
      pictures.map(async ({ source, specifier, file }) => {
        const { problem } = await process.look(`${file}?${specifier.split('?')[1]}`, []);
        if (problem === undefined) return [];
        const text =
          files.find((one) => one.path === source)?.text ??
          fs.readFileSync(path.join(root, source), 'utf8');
        const place = { path: source, ...placeOf(text, offsetIn(text, specifier)) };
        return [{ ...place, ...problem, certain: true, syntax: false }];
      }),
    );
    return found.flat();
  } finally {
    process.close();
  }
}

/**
 * @param {string} text
 * @param {string} specifier of an import in it
 */
function offsetIn(text, specifier) {
  const found = ["'", '"'].map((quote) => text.indexOf(`${quote}${specifier}${quote}`));
  return Math.min(...found.filter((offset) => offset !== -1), text.length);
}
