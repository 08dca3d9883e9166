/** `Image`: an `<img>` that neither blocks the page nor makes it jump. */

import { createElement } from 'react';

import { useRoute } from '../contexts.js';
import { withBase } from '../navigation/urls.js';

/**
 * @typedef {Omit<import('react').ComponentProps<'img'>, 'src' | 'alt'> & {
 *   src: string,
 *   alt: string,
 *   priority?: boolean,
 *   fill?: boolean,
 * }} ImageProps
 */

/** @type {import('react').CSSProperties} */
const FILL = {
  position: 'absolute',
  inset: 0,
  width: '100%',
  height: '100%',
  objectFit: 'cover',
};

/**
 * An image, loaded when it comes near the screen. `priority` loads it at once: for what is
 * seen first. `fill` covers the positioned element around it; otherwise give `width` and
 * `height`, so that its place is kept.
 *
 * @param {ImageProps} props
 */
export function Image({ src, priority = false, fill = false, style, ...rest }) {
  const { base } = useRoute('Image');
  return createElement('img', {
    loading: priority ? 'eager' : 'lazy',
    decoding: 'async',
    fetchPriority: priority ? 'high' : undefined,
    ...rest,
    style: fill ? { ...FILL, ...style } : style,
    src: withBase(src, base),
  });
}
