/** Cuts a streamed page where its root element begins: what React hoists goes into the head. */

import { Transform } from 'node:stream';

/** Passes on what comes behind the opening tag of the root element. */
export class RootSplitter extends Transform {
  #opening;
  #onHoisted;
  /** @type {Buffer | null} what came so far; null once the tag was found */
  #before = Buffer.alloc(0);

  /**
   * @param {string} opening tag of the root element
   * @param {(hoisted: string) => void} onHoisted told once what stands in front of it
   */
  constructor(opening, onHoisted) {
    super();
    this.#opening = opening;
    this.#onHoisted = onHoisted;
  }

  /**
   * @override
   * @param {Uint8Array} part
   * @param {BufferEncoding} _encoding
   * @param {() => void} done
   */
  _transform(part, _encoding, done) {
    if (this.#before === null) {
      this.push(part);
    } else {
      const all = Buffer.concat([this.#before, part]);
      const at = all.indexOf(this.#opening);
      this.#before = at === -1 ? all : null;
      if (at !== -1) {
        this.push(all.subarray(at + this.#opening.length));
        this.#onHoisted(all.toString('utf8', 0, at));
      }
    }
    done();
  }
}
