/**
 * Format UI code with prettier: `node format.js`, an order (`reply.js`) as JSON on stdin, its
 * reply as JSON on stdout's last line. Started by `fxtrio/tools/format/prettier.py`.
 */

import { reply } from './reply.js';

const parts = [];
for await (const part of process.stdin) parts.push(part);
const order = JSON.parse(Buffer.concat(parts).toString('utf8'));
process.stdout.write(`\n${JSON.stringify(await reply(order))}\n`);
