/**
 * Find syntax errors in the UI halves of page files: `node syntax.js`, `{toolchain, files}` as
 * JSON on stdin, `{problems}` as JSON on stdout's last line.
 *
 * Started by `fxtrio/compile/syntax.py`. The parser is the one that the bundler reads them with.
 */

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {{ path: string, text: string }} File
 * @typedef {{ path: string, line: number, column: number, message: string, help: string }} Problem
 */

/**
 * @param {typeof import('vite')} vite
 * @param {File} file
 * @returns {Problem[]}
 */
function problemsOf(vite, { path: source, text }) {
  const { errors } = vite.parseSync(`${source}.tsx`, text, { lang: 'tsx', sourceType: 'module' });
  return errors.map(({ message, helpMessage, labels }) => ({
    path: source,
    ...placeOf(text, labels[0]?.start ?? 0),
    message,
    help: helpMessage ?? '',
  }));
}

/**
 * Return line and column, both from 1, columns in characters.
 *
 * @param {string} text
 * @param {number} offset in UTF-16 units
 */
function placeOf(text, offset) {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}

/**
 * @param {string} toolchain
 * @returns {Promise<typeof import('vite')>}
 */
async function loadVite(toolchain) {
  const require = createRequire(path.join(toolchain, 'package.json'));
  return import(pathToFileURL(require.resolve('vite')).href);
}

const parts = [];
for await (const part of process.stdin) parts.push(part);
/** @type {{ toolchain: string, files: File[] }} */
const { toolchain, files } = JSON.parse(Buffer.concat(parts).toString('utf8'));
const vite = await loadVite(toolchain);
const problems = files.flatMap((file) => problemsOf(vite, file));
process.stdout.write(`\n${JSON.stringify({ problems })}\n`);
