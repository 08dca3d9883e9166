/**
 * Formats UI code for an editor: JSON-RPC on stdin and stdout, until stdin ends. The request
 * `format` takes an order, and returns its reply (`../format/reply.js`).
 *
 * Started by `fxtrio/tools/lsp/processes/warm_prettier.py`.
 */

import { Pieces } from '../format/pieces.js';
import { reply } from '../format/reply.js';
import { encodeMessage, MessageReader } from './messages.js';

const pieces = new Pieces();
const reader = new MessageReader();

for await (const data of process.stdin) {
  for (const { id, method, params } of reader.feed(data)) {
    if (method !== 'format') continue;
    const result = await reply(params, (...order) => pieces.format(...order));
    process.stdout.write(encodeMessage({ id, result }));
  }
}
