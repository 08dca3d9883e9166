/**
 * Cuts a streamed page where its root element begins: what React hoists goes into the head. What
 * components insert comes in front of the parts that need it.
 */

import { Transform } from 'node:stream';

import { withLastTitle } from './root.js';

/** Passes on what comes behind the opening tag of the root element. */
export class RootSplitter extends Transform {
  #opening;
  #onHoisted;
  #inserted;
  #joined;
  #change;
  /** @type {Buffer | null} what came so far; null once the tag was found */
  #before = Buffer.alloc(0);
  /** @type {Uint8Array[]} what React has written since `flush`: whole elements, once it flushes */
  #batch = [];

  /**
   * @param {string} opening tag of the root element
   * @param {(hoisted: string) => void} onHoisted told once what stands in front of it
   * @param {() => string} inserted returns the HTML that comes in front of a later part
   * @param {object} [options]
   * @param {boolean} [options.joined] whether each flush is one part: others write between them
   * @param {(html: string) => string} [options.change] makes the HTML of each flush another one
   */
  constructor(opening, onHoisted, inserted, { joined = false, change } = {}) {
    super();
    this.#joined = joined || change !== undefined;
    this.#change = change;
    this.#opening = opening;
    this.#onHoisted = onHoisted;
    this.#inserted = inserted;
  }

  /**
   * @override
   * @param {any} part
   */
  write(part) {
    this.#batch.push(part);
    return !this.writableNeedDrain;
  }

  /** React has written a part to its end; it calls this. */
  flush() {
    if (this.#batch.length === 0) return;
    const html = this.#before === null ? this.#inserted() : ''; // the first is told of its own
    const parts = html === '' ? this.#batch : [Buffer.from(html), ...this.#batch];
    this.#batch = [];
    for (const part of this.#joined ? [Buffer.concat(parts)] : parts) super.write(part);
  }

  /**
   * @override
   * @param {Uint8Array} part
   * @param {BufferEncoding} _encoding
   * @param {() => void} done
   */
  _transform(part, _encoding, done) {
    if (this.#before === null) {
      this.#pass(part);
    } else {
      const all = Buffer.concat([this.#before, part]);
      const at = all.indexOf(this.#opening);
      this.#before = at === -1 ? all : null;
      if (at !== -1) {
        this.#pass(all.subarray(at + this.#opening.length));
        this.#onHoisted(withLastTitle(all.toString('utf8', 0, at)));
      }
    }
    done();
  }

  /** @param {Uint8Array} part whole tags and characters, if it is to be changed */
  #pass(part) {
    this.push(this.#change === undefined ? part : this.#change(Buffer.from(part).toString('utf8')));
  }
}
