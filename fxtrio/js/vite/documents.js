/** Documents in UI code: MDX, which a package of the project compiles, and Markdown. */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { isInstalled } from './builtins.js';

const COMPILER = '@mdx-js/rollup';

/** Its options, as the default export of a file of the project. */
const OPTIONS = ['mdx.config.mjs', 'mdx.config.js'];

/** Not with a query: `?raw` is the text. */
const MDX = /\.mdx$/;
const MARKDOWN = /\.md$/;

/**
 * Return what to do about an import of a document that is not compiled; undefined for others.
 *
 * @param {string} specifier
 * @param {string} root of the project
 * @returns {string | undefined}
 */
export function documentRemedy(specifier, root) {
  if (MARKDOWN.test(specifier)) return `Import its text with '${specifier}?raw', or make it .mdx`;
  if (!MDX.test(specifier) || isInstalled(COMPILER, root)) return undefined;
  return `Run 'npm install --save-dev ${COMPILER}', which makes components of .mdx files`;
}

/**
 * Return the plug-in that compiles MDX; none when it is not installed.
 *
 * @param {string} root of the project
 * @returns {Promise<import('vite').Plugin[]>}
 */
export async function documentPlugins(root) {
  if (!isInstalled(COMPILER, root)) return [];
  const { resolve } = createRequire(path.join(root, 'package.json'));
  const { default: mdx } = await import(pathToFileURL(resolve(COMPILER)).href);
  const file = OPTIONS.map((name) => path.join(root, name)).find((one) => fs.existsSync(one));
  const options = file === undefined ? {} : (await import(pathToFileURL(file).href)).default;
  return [{ enforce: 'pre', ...mdx({ ...options, include: MDX }) }];
}
