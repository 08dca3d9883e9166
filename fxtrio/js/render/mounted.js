/**
 * URLs of built files in a page that is served below another path than it was built for.
 *
 * A module that imports an image has its URL as a string, made when the bundle is loaded. In
 * the browser that is worked out from the module's own URL; here it is put right in the HTML.
 */

import { Transform } from 'node:stream';

/** @typedef {import('../client/types.js').State} State */

/** What the builds call a file: its name, a digest of its content, its type. */
const FILE = '[\\w.-]*-[\\w-]{8}\\.[a-z0-9]+';

/** @param {string} html */
const same = (html) => html;

/**
 * Return what puts the URLs of built files in HTML right.
 *
 * @param {string} base URL path that the app was built for
 * @param {State} state
 * @returns {(html: string) => string}
 */
export function movedFrom(base, { page }) {
  const mounted = page?.base;
  if (mounted === undefined || mounted === base) return same;
  const built = `${base}/_fx/`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const urls = new RegExp(`(?<![\\w/.:-])${built}(?=${FILE})`, 'g');
  return (html) => html.replace(urls, () => `${mounted}/_fx/`);
}

/**
 * Return a stream of HTML with those URLs put right.
 *
 * @param {import('node:stream').Readable} html
 * @param {string} base
 * @param {State} state
 */
export function moving(html, base, state) {
  const move = movedFrom(base, state);
  return move === same ? html : html.pipe(new Moving(move));
}

/** Holds a URL back that a part ends in, since the next one may go on with it. */
class Moving extends Transform {
  #move;
  #held = '';

  /** @param {(html: string) => string} move */
  constructor(move) {
    super();
    this.#move = move;
  }

  /**
   * @override
   * @param {Buffer} part
   * @param {BufferEncoding} _encoding
   * @param {() => void} done
   */
  _transform(part, _encoding, done) {
    const all = this.#held + part.toString('latin1'); // bytes: a part may end within a character
    const end = startOfUrl(all);
    this.#held = all.slice(end);
    this.push(Buffer.from(this.#move(all.slice(0, end)), 'latin1'));
    done();
  }

  /**
   * @override
   * @param {() => void} done
   */
  _flush(done) {
    this.push(Buffer.from(this.#move(this.#held), 'latin1'));
    done();
  }
}

/** What is held back at most: longer than any URL of a file (bytes). */
const LONGEST = 2048;

const OF_URLS = /[\w/.:~!$&'()*+,;=@%-]/;

/**
 * Return where the URL begins that a text may end in; its end when there is none, or when it
 * would be too long. Only the end is looked at, since what comes before is as long as visitors
 * like.
 *
 * @param {string} text
 */
function startOfUrl(text) {
  const least = Math.max(0, text.length - LONGEST - 1);
  let start = text.length;
  while (start > least && OF_URLS.test(text[start - 1])) start -= 1;
  return text.length - start > LONGEST ? text.length : start;
}
