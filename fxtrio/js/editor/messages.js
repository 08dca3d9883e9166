/**
 * Messages as the Language Server Protocol frames them: a header with their length, then JSON.
 *
 * The other half is pygls, with which `fxtrio/tools/lsp/rpc.py` speaks to editors and to `analyst.js`.
 */

const HEADER_END = Buffer.from('\r\n\r\n');

/**
 * Write a message of JSON-RPC.
 *
 * @param {object} message
 * @returns {Buffer}
 */
export function encodeMessage(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }), 'utf8');
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Bytes in, messages out. */
export class MessageReader {
  constructor() {
    this.unread = Buffer.alloc(0);
  }

  /**
   * Return the messages that `data` completes, oldest first.
   *
   * @param {Buffer} data
   * @returns {any[]}
   */
  feed(data) {
    this.unread = Buffer.concat([this.unread, data]);
    const messages = [];
    for (;;) {
      const header = this.unread.indexOf(HEADER_END);
      if (header < 0) return messages;
      const found = /content-length: *(\d+)/i.exec(this.unread.toString('latin1', 0, header));
      if (found === null) throw new Error('a message has no Content-Length');
      const start = header + HEADER_END.length;
      const end = start + Number(found[1]);
      if (this.unread.length < end) return messages;
      messages.push(JSON.parse(this.unread.toString('utf8', start, end)));
      this.unread = this.unread.subarray(end);
    }
  }
}
