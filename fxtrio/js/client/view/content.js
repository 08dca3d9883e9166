/** What a page in Markdown says about itself, for the layouts around it. */

import { createElement } from 'react';

import { usePage } from '../contexts.js';

/**
 * @typedef {{ level: number, id: string, text: string }} Heading
 * @typedef {{ frontMatter: Record<string, any>, headings: Heading[] }} Content
 */

/**
 * Return the front matter and the headings of the page that is shown; null for a page that is not
 * in Markdown.
 *
 * @returns {Content | null}
 */
export function useContent() {
  return contentOf(usePage('useContent').parts);
}

/**
 * A table of contents of a page in Markdown: links to its headings of the second level, with those
 * of the third within them. Nothing for a page without such headings.
 *
 * @param {{ label?: string, className?: string }} props `label` names it for screen readers
 */
export function Toc({ label = 'On this page', className = 'toc' }) {
  const content = contentOf(usePage('Toc').parts);
  const groups = content === null ? [] : groupsOf(content.headings);
  if (groups.length === 0) return null;
  const items = groups.map(([first, ...inner]) =>
    createElement('li', { key: first.id }, linkTo(first), listOf(inner)),
  );
  return createElement('nav', { className, 'aria-label': label }, createElement('ul', null, items));
}

/**
 * @param {import('../types.js').Parts} parts
 * @returns {Content | null}
 */
function contentOf({ page: { frontMatter, headings } }) {
  return frontMatter === undefined || headings === undefined ? null : { frontMatter, headings };
}

/**
 * Return each heading of the second level with those of the third behind it.
 *
 * @param {Heading[]} headings
 * @returns {Heading[][]}
 */
function groupsOf(headings) {
  /** @type {Heading[][]} */
  const groups = [];
  for (const heading of headings) {
    const last = groups.at(-1);
    if (heading.level === 2 || (heading.level === 3 && last === undefined)) groups.push([heading]);
    else if (heading.level === 3) last?.push(heading);
  }
  return groups;
}

/** @param {Heading} heading */
function linkTo({ id, text }) {
  return createElement('a', { href: `#${id}` }, text);
}

/** @param {Heading[]} headings */
function listOf(headings) {
  if (headings.length === 0) return null;
  const items = headings.map((one) => createElement('li', { key: one.id }, linkTo(one)));
  return createElement('ul', null, items);
}
