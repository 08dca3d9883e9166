/**
 * HTML that an element is given as text (`dangerouslySetInnerHTML`): whether browsers read it as it is
 * written, so that it stays in its element and nothing in it runs. Pure.
 *
 * HTML is accepted if each tag in it is closed, its elements and attributes are on the lists, and
 * each of its elements is allowed where it is. Browsers would read more than that.
 */

import { clashOf, drawingAround } from '../nesting/nesting.js';
import { isBlankText, isPartOfTable } from '../nesting/tables.js';
import { DRAWN, FORMULAS, isKnownElement } from './known.js';

/** A closing tag, an opening one, or a comment. JavaScript has more blanks than HTML. */
const TAG =
  /<(?:\/([a-z][a-z0-9]*)[\t\n\f\r ]*>|([a-z][a-z0-9]*)((?:[\t\n\f\r ]+[^\s"'<>/=]+(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*)[\t\n\f\r ]*(\/?)>|!--(?!-?>)(?:(?!<!--|--!?>)[^])*-->)/iy;
const TEXTS = /"[^"]*"|'[^']*'/g;

/** Attributes that run code or bring a document. */
const RUNNING = /(?:^|\s)(on[^\s=]*|is|srcdoc)(?=[\s=]|$)/i;

const VOID = /^(area|br|col|embed|hr|img|input|source|track|wbr)$/;

/** Elements that are about the document, or whose content is no HTML. */
const APART = /^(link|meta|noscript|slot|style|title)$/;

/** Elements whose content is text that only their own end tag ends. */
const RAW = /^(noscript|style)$/;

/** Elements that must not get HTML. */
const CLOSED = /^(iframe|title)$/;

/** Parts of drawings and formulas that have HTML in them, of which only text is accepted. */
const WITH_TEXT = /^(desc|m[inos]|mtext|title)$/;

/** As browsers write them, which ignore capitals. */
const IN_DRAWINGS = new Set(
  [...DRAWN, 'a', 'desc', 'title']
    .filter((name) => name !== 'foreignObject')
    .map((name) => name.toLowerCase()),
);

const ITEM = /^(li|d[dt])$/;
const LIST = /^([ou]l|menu|dl)$/;

/** Elements in each other (count); browsers put the 513th elsewhere. */
export const DEEPEST = 200;

/**
 * Return why HTML may not stay in the innermost of some elements, or may run; "" if it does neither.
 *
 * @param {string} html
 * @param {string[]} around names of elements, the innermost, which gets the HTML, last
 * @returns {string}
 */
export function htmlProblem(html, around) {
  const host = around.at(-1) ?? '';
  if (CLOSED.test(host)) return `HTML in <${host}>`;
  const outer = drawingAround(around.slice(0, -1));
  if (host === 'style' && outer !== undefined && /[<&]/.test(html)) return `markup in <${outer}>`;
  if (RAW.test(host)) return html.toLowerCase().includes(`</${host}`) ? `</${host}> in it` : '';
  const open = [...around];
  for (let at = 0; ;) {
    const next = html.indexOf('<', at);
    const end = next < 0 ? html.length : next;
    const parent = open.at(-1) ?? '';
    const isTextAllowed = parent === 'iframe' ? at === end : !isPartOfTable(parent);
    if (!isTextAllowed && !isBlankText(html.slice(at, end))) return `text in <${parent}>`;
    if (next < 0) break;
    TAG.lastIndex = next;
    const found = TAG.exec(html);
    if (found === null) return `'${html.slice(next, next + 20)}'`;
    at = TAG.lastIndex;
    const problem = tagProblem(found, open, around.length);
    if (problem !== '') return problem;
  }
  return open.length > around.length ? `<${open.at(-1)}> that is not closed` : '';
}

/**
 * @param {RegExpExecArray} found
 * @param {string[]} open elements, which the tag opens or closes
 * @param {number} least of them (count)
 * @returns {string}
 */
function tagProblem([tag, closed, opened, attributes, slash], open, least) {
  if (closed !== undefined) {
    const isClosed = open.length > least && open.at(-1) === closed.toLowerCase();
    if (isClosed) open.pop();
    return isClosed ? '' : `${tag} without a start`;
  }
  if (opened === undefined) return '';
  const name = opened.toLowerCase();
  const parent = open.at(-1) ?? '';
  const drawing = drawingAround(open);
  if (parent === 'iframe' || (WITH_TEXT.test(parent) && open.some(isDrawing))) {
    return `<${name}> in <${parent}>`;
  }
  if (!isAllowed(name, drawing)) return `<${name}>`;
  const clash = clashOf(name, open);
  if (clash !== undefined) return `<${name}> in <${clash}>`;
  if (ITEM.test(name) && !open.some((one) => LIST.test(one))) return `<${name}> in no list`;
  if (attributes.includes('</')) return "'</' in an attribute";
  const [, running] = RUNNING.exec(attributes.replaceAll(TEXTS, '')) ?? [];
  if (running !== undefined) return `the attribute ${running}`;
  if (VOID.test(name) && drawing === undefined) return '';
  if (slash !== '') return drawing === undefined && !isDrawing(name) ? tag : '';
  open.push(name);
  return open.length > DEEPEST ? `more than ${DEEPEST} elements in each other` : '';
}

/** @param {string} name */
export function isDrawing(name) {
  return name === 'svg' || name === 'math';
}

/** @param {string} name in small letters @param {string | undefined} drawing that it is in, or formula */
function isAllowed(name, drawing) {
  if (drawing === 'svg') return IN_DRAWINGS.has(name);
  if (drawing === 'math') return FORMULAS.has(name);
  return isDrawing(name) || (isKnownElement(name) && !APART.test(name));
}

/**
 * Return the elements of which is known that they are around HTML, by the element that gets it.
 *
 * @param {string} host
 */
export function aroundHtml(host) {
  if (isDrawing(host)) return [host];
  if (DRAWN.has(host)) return ['svg', host];
  return FORMULAS.has(host) ? ['math', host] : [host];
}
