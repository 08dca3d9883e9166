/**
 * Rewrite UI code of another framework: `node convert.js`, `{toolchain, framework, files}` as JSON
 * on stdin, `{files}` as JSON on stdout's last line. Started by `fxtrio/tools/convert/ui_code.py`.
 *
 * Code is parsed by the bundler's parser, and edited where its syntax tree says so; a file that
 * does not parse is left alone.
 */

import { loadTools } from '../check/checker.js';
import { nextEdits } from './next.js';
import { pyxleEdits } from './pyxle.js';

/**
 * @typedef {import('../check/tree.js').Node} Node
 * @typedef {{ start: number, end: number, text: string }} Edit offsets in UTF-16 units
 * @typedef {{ offset: number, message: string, remedy: string }} Left
 * @typedef {{ edits: Edit[], done: string[], left: Left[], python: string[] }} Rewriting
 *   `python` are lines for the Python half
 * @typedef {{ path: string, text: string, before: string, pages: string }} File
 *   `path` is where it will be, and `before` where it is
 */

/**
 * Return the edits without those of what another one takes away.
 *
 * @param {Edit[]} edits
 */
function outermost(edits) {
  const sorted = [...edits].sort((one, other) => one.start - other.start || other.end - one.end);
  let end = 0;
  return sorted.filter((one) => {
    const isFree = one.start >= end;
    if (isFree) end = one.end;
    return isFree;
  });
}

const REWRITE = { pyxle: pyxleEdits, next: nextEdits };

const parts = [];
for await (const part of process.stdin) parts.push(part);
/** @type {{ toolchain: string, framework: 'pyxle' | 'next', files: File[], context?: any }} */
const order = JSON.parse(Buffer.concat(parts).toString('utf8'));
const tools = await loadTools(order.toolchain);
const files = order.files.map((file) => {
  const lang = /\.m?ts$|\.cts$/.test(file.path) ? 'ts' : 'tsx';
  const { program, errors } = tools.parse(file.path, file.text, { lang, range: true });
  if (errors.length > 0) return { path: file.path, edits: [], done: [], left: [], python: [] };
  const tree = /** @type {any} */ (program);
  const rewriting = REWRITE[order.framework](tree, file, order.context ?? {});
  return { path: file.path, ...rewriting, edits: outermost(rewriting.edits) };
});
process.stdout.write(`\n${JSON.stringify({ files })}\n`);
