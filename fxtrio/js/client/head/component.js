/** `Head`: elements for the document's head, from anywhere in the tree. */

import { createElement, useContext, useLayoutEffect, useMemo } from 'react';

import { LevelContext, useRoute } from '../contexts.js';
import { headNodes } from './elements.js';
import { HeadWriter } from './writer.js';

/** @typedef {import('../types.js').HeadNode} HeadNode */

/**
 * Put `<title>`, `<meta>`, `<link>`, `<style>`, `<script>`, `<base>` and `<noscript>` elements
 * into the document's head. Of elements that mean the same the innermost wins.
 *
 * @param {{ children?: import('react').ReactNode }} props
 */
export function Head({ children }) {
  const { head, runtime } = useRoute('Head');
  const level = useContext(LevelContext);
  const nodes = headNodes(children);
  if (runtime !== null) return createElement(LiveHead, { head, level, nodes });
  head.add(level, nodes, HeadWriter);
  return null;
}

/**
 * @param {{ head: import('../types.js').HeadSink, level: number, nodes: HeadNode[] }} props
 */
function LiveHead({ head, level, nodes }) {
  const text = JSON.stringify(nodes);
  /** @type {HeadNode[]} */
  const same = useMemo(() => JSON.parse(text), [text]);
  useLayoutEffect(() => head.add(level, same, HeadWriter), [head, level, same]);
  return null;
}
