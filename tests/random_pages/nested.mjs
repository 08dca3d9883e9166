/**
 * Print HTML as React writes it, with elements nested at random as far as the proof that a page needs
 * no scripts accepts it: `node nested.mjs TOOLCHAIN SEED COUNT`.
 */

import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [toolchain, seed, count] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.join(toolchain, 'scripts', file)).href);
const { clashOf } = await load('nesting/nesting.js');
const { isPartOfTable } = await load('nesting/tables.js');
const { ELEMENTS } = await load('elements/known.js');

/** Elements with rules of their own: three of four are among them. */
const OFTEN = [
  'p div a button form table thead tbody tr td th caption colgroup col ul ol li dl dt dd h1 h2 span b i',
  'select option optgroup hr ruby rt rp rb rtc svg g desc title foreignObject math mi mtext mn image',
  'object label input br img details dialog search address menu nav fieldset legend pre summary',
].flatMap((line) => line.split(' '));
const VOID = /^(area|br|col|embed|hr|img|input|source|track|wbr)$/;

/** Elements whose content is none of these, or that are put into the head. */
const APART = /^(iframe|link|meta|noscript|style|textarea)$/;
const INTEGRATED = /^(desc|foreignObject|title)$/;

let state = Number(seed) + 1;

function random() {
  state = (state * 1664525 + 1013904223) % 2 ** 32;
  return state / 2 ** 32;
}

const oneOf = (list) => list[Math.floor(random() * list.length)];

function nested(depth, around) {
  const parts = [];
  for (let left = 1 + Math.floor(random() * 2.4); left > 0; left--) {
    if (random() < 0.15) {
      if (!isPartOfTable(around.at(-1)) && parts.at(-1) !== 'x') parts.push('x');
      continue;
    }
    const name = oneOf(random() < 0.75 ? OFTEN : ELEMENTS);
    const isTitle = name === 'title' && (!around.includes('svg') || around.some((one) => INTEGRATED.test(one)));
    if (APART.test(name) || isTitle || clashOf(name, around) !== undefined) continue;
    if (VOID.test(name)) parts.push(`<${name}/>`);
    else parts.push(`<${name}>${depth > 0 ? nested(depth - 1, [...around, name]) : ''}</${name}>`);
  }
  return parts.join('');
}

console.log(JSON.stringify(Array.from({ length: Number(count) }, () => nested(6, ['div']))));
