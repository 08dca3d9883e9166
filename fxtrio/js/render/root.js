/**
 * Where the app begins and ends in what React writes. Pure.
 *
 * In front of the root element stands what React hoists; behind it what React adds by itself: a
 * script that keeps submissions of `<form action={…}>` until the page lives, and the parts of
 * boundaries that are sent late.
 */

import { randomUUID } from 'node:crypto';

import { escapeText } from '../client/head/head.js';

/**
 * Stands for the root element while a page is rendered as a whole; its tags are cut off. Nothing
 * that an app writes can be taken for them, since no page knows the name.
 */
export const STAND_IN = `fx-root-${randomUUID()}`;

const OPENING = `<${STAND_IN}>`;
const CLOSING = `</${STAND_IN}>`;

/**
 * Divide a page.
 *
 * @param {string} html
 * @returns {{ hoisted: string, inside: string, behind: string }}
 */
export function cutRoot(html) {
  const start = html.startsWith(OPENING) ? 0 : html.indexOf(OPENING);
  const last = html.length - CLOSING.length;
  const end = html.endsWith(CLOSING) ? last : html.lastIndexOf(CLOSING);
  return {
    hoisted: start === 0 ? '' : withLastTitle(html.slice(0, start)),
    inside: html.slice(start + OPENING.length, end),
    behind: end === last ? '' : html.slice(end + CLOSING.length),
  };
}

const TITLES = /<title\b[^>]*>[^<]*<\/title>/g;

/**
 * Keep the last of several titles, which React shows when it has put all of them into the head; without
 * scripts the first would remain.
 *
 * @param {string} hoisted written by React alone
 */
export function withLastTitle(hoisted) {
  if (hoisted.indexOf('<title') === hoisted.lastIndexOf('<title')) return hoisted;
  const last = [...hoisted.matchAll(TITLES)].at(-1)?.index;
  return hoisted.replace(TITLES, (title, at) => (at === last ? title : ''));
}

/**
 * Return the inside of the root element, and what stands behind it. The root element is closed
 * by the document, so an empty one is left open here for that.
 *
 * @param {string} inside
 * @param {string} behind with its nonces
 */
export function joinRoot(inside, behind) {
  return behind === '' ? inside : `${inside}</div>${behind}<div hidden>`;
}

/**
 * Give the scripts of a text a nonce: `renderToString` takes none.
 *
 * @param {string} scripts written by React alone
 * @param {string} nonce "" without a policy
 */
export function withNonce(scripts, nonce) {
  if (nonce === '') return scripts;
  return scripts.replaceAll('<script', () => `<script nonce="${escapeText(nonce)}"`);
}
