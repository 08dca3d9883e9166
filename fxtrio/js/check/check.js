/**
 * Find mistakes in the UI halves of a project: `node check.js`, `{toolchain, root, pages, files}`
 * as JSON on stdin, `{problems}` as JSON on stdout's last line. Started by
 * `fxtrio/compile/check/ui_code.py`.
 */

import { loadTools, problemsOf } from './checker.js';

/** @typedef {import('./checker.js').Order} Order */

const parts = [];
for await (const part of process.stdin) parts.push(part);
/** @type {Order} */
const order = JSON.parse(Buffer.concat(parts).toString('utf8'));
const problems = problemsOf(await loadTools(order.toolchain), order);
process.stdout.write(`\n${JSON.stringify({ problems })}\n`);
