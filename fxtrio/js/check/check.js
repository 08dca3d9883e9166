/**
 * Find mistakes in the UI halves of a project: `node check.js`, the order as JSON on
 * stdin, `{problems}` as JSON on stdout's last line. Started by `fxtrio/compile/check/ui_code.py`.
 */

import { pictureMistakes } from '../pictures/check.js';
import { listed, loadTools, lookAtAll } from './checker.js';

/** @typedef {import('./checker.js').Order & { python: string }} Order */

const parts = [];
for await (const part of process.stdin) parts.push(part);
/** @type {Order} */
const order = JSON.parse(Buffer.concat(parts).toString('utf8'));
const found = lookAtAll(await loadTools(order.toolchain), order);
const problems = listed(found);
problems.push(...(await pictureMistakes(order, found.looked)));
process.stdout.write(`\n${JSON.stringify({ problems })}\n`);
