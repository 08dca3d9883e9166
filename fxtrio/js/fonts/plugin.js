/**
 * `import inter from './inter.woff2?font'`: a stylesheet with the font, and with one of the system
 * that takes the same space while it loads.
 */

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * What the program says of a font (`fxtrio/fonts/metrics.py`); sizes are per cent.
 *
 * @typedef {{
 *   family: string, weight: string, style: string, generic: string, locals: string[],
 *   size: number, ascent: number, descent: number, gap: number,
 * }} Font
 */

const IS_FONT = /\?font$/;
/** In front of an absolute path: with a slash more, `fx dev` would refuse the URL. */
const STYLES = 'virtual:fx-font';
const IS_STYLES = /^\0virtual:fx-font(?=\/)/;
const FORMATS = { woff2: 'woff2', woff: 'woff', ttf: 'truetype', otf: 'opentype' };

const run = promisify(execFile);

/**
 * @param {{ python: string, root: string }} settings
 * @returns {import('vite').Plugin}
 */
export function fontsPlugin({ python, root }) {
  /** By file. @type {Map<string, { version: string, font: Promise<Font> }>} */
  const known = new Map();
  const look = (/** @type {string} */ file) => {
    const version = versionOf(file);
    const last = known.get(file);
    if (last?.version === version) return last.font;
    const font = describe(python, root, file);
    known.set(file, { version, font });
    font.catch(() => known.delete(file)); // the reason may be another than the file
    return font;
  };
  return {
    name: 'fx:fonts',
    enforce: 'pre',
    resolveId: {
      filter: { id: [IS_FONT, new RegExp(`^${STYLES}/`)] },
      async handler(id, importer, options) {
        if (id.startsWith(`${STYLES}/`)) return `\0${id}`;
        const found = await this.resolve(id, importer, { ...options, skipSelf: true });
        if (found === null || !importer) return found;
        await look(found.id.replace(IS_FONT, '')).catch((error) => {
          throw Object.assign(error, { importer, specifier: id });
        });
        return found;
      },
    },
    load: {
      filter: { id: [IS_FONT, IS_STYLES] },
      async handler(id) {
        if (IS_STYLES.test(id)) {
          const file = id.replace(IS_STYLES, '').replace(/\.css$/, '');
          this.addWatchFile(file);
          return { code: stylesOf(file, await look(file)), moduleType: 'css' };
        }
        const file = id.replace(IS_FONT, '');
        this.addWatchFile(file);
        const { family, generic } = await look(file);
        const named = JSON.stringify(`"${family}", "${family} Fallback", ${generic}`);
        return {
          code: [
            `import ${JSON.stringify(`${STYLES}${file}.css`)};`,
            `import src from ${JSON.stringify(`${file}?url&no-inline`)};`,
            `export default { src, family: ${named}, type: ${JSON.stringify(typeOf(file))} };`,
          ].join('\n'),
          moduleType: 'js',
        };
      },
    },
  };
}

/**
 * @param {string} python
 * @param {string} root
 * @param {string} file
 * @returns {Promise<Font>}
 */
async function describe(python, root, file) {
  // -P: no module of the project takes the place of one that is imported.
  const { stdout } = await run(python, ['-P', '-m', 'fxtrio.fonts.describe', root, file]);
  const { font, problem } = JSON.parse(stdout);
  if (problem === undefined) return { ...font, family: font.family.replace(/["\\\n]/g, '') };
  throw new Error(`${path.basename(file)}: ${problem.message}. ${problem.remedy}.`);
}

/**
 * Return what differs once a file has changed.
 *
 * @param {string} file
 */
function versionOf(file) {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return `${found?.mtimeMs} ${found?.size}`;
}

/** @param {string} text */
function identifier(text) {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-');
}

/** @param {string} file */
function typeOf(file) {
  return `font/${path.extname(file).slice(1).toLowerCase()}`;
}

/**
 * @param {string} file
 * @param {Font} font
 */
export function stylesOf(file, font) {
  const end = /** @type {keyof typeof FORMATS} */ (path.extname(file).slice(1).toLowerCase());
  const format = FORMATS[end] === undefined ? '' : ` format("${FORMATS[end]}")`;
  const { family } = font;
  const variable = identifier(family) || identifier(path.parse(file).name) || 'font';
  const shared = `font-weight: ${font.weight}; font-style: ${font.style};`;
  return `@font-face {
  font-family: "${family}"; ${shared} font-display: swap;
  src: url(${JSON.stringify(`${file}?no-inline`)})${format};
}
@font-face {
  font-family: "${family} Fallback"; ${shared}
  src: ${font.locals.map((name) => `local("${name}")`).join(', ')};
  size-adjust: ${font.size}%;
  ascent-override: ${font.ascent}%; descent-override: ${font.descent}%; line-gap-override: ${font.gap}%;
}
:root { --font-${variable}: "${family}", "${family} Fallback", ${font.generic}; }
`;
}
