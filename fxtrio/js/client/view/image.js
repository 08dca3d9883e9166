/** `Image`: an `<img>` that neither blocks the page nor makes it jump. */

import { createElement } from 'react';

import { useRoute } from '../contexts.js';
import { withBase } from '../navigation/urls.js';

/**
 * A local picture, as `import lake from './lake.jpg?picture'` has it: the URL of one file, its
 * size on the page (CSS pixels), other files to choose from, and a tiny copy as a data URL.
 *
 * @typedef {{
 *   src: string,
 *   width: number,
 *   height: number,
 *   srcSet?: string,
 *   sources?: { type: string, srcSet: string }[],
 *   placeholder?: string,
 * }} Picture
 */
/**
 * @typedef {Omit<import('react').ComponentProps<'img'>, 'src' | 'alt'> & {
 *   src: string | Picture,
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
 * `height`, so that its place is kept. A `Picture` knows both.
 *
 * @param {ImageProps} props
 */
export function Image({ src, priority = false, fill = false, style, ...rest }) {
  const { base } = useRoute('Image');
  const loading = priority ? 'eager' : 'lazy';
  const defaults = { loading, decoding: 'async', fetchPriority: priority ? 'high' : undefined };
  const filling = fill ? { ...FILL, ...style } : style;
  if (typeof src === 'string') {
    return createElement('img', { ...defaults, ...rest, style: filling, src: withBase(src, base) });
  }
  const { sources = [], placeholder, ...own } = src;
  const behind = placeholder && {
    backgroundImage: `url("${placeholder}")`,
    backgroundSize: 'cover',
  };
  const size = sizeOf(src, rest);
  const width = fill ? NaN : Number(size.width);
  const sizes = rest.sizes ?? sizesOf(width, rest.loading ?? loading);
  const img = createElement('img', {
    ...{ ...defaults, ...own, ...rest, ...size },
    sizes: own.srcSet && sizes,
    style: behind || filling ? { ...behind, ...filling } : undefined,
  });
  if (sources.length === 0) return img;
  const chosen = sources.map((one) => createElement('source', { key: one.type, ...one, sizes }));
  return createElement('picture', { style: { display: 'contents' } }, ...chosen, img);
}

/**
 * Return the attributes `width` and `height`: one that is given leads to the other.
 *
 * @param {Picture} picture
 * @param {{ width?: number | string, height?: number | string }} written
 */
function sizeOf({ width, height }, written) {
  if (written.width === undefined && written.height === undefined) return { width, height };
  return {
    width: written.width ?? scaled(written.height, width / height),
    height: written.height ?? scaled(written.width, height / width),
  };
}

/**
 * @param {number | string | undefined} length
 * @param {number} factor
 * @returns {number | undefined} undefined for a length that is no number, such as "100%"
 */
function scaled(length, factor) {
  const pixels = Number(length);
  return Number.isFinite(pixels) ? Math.round(pixels * factor) : undefined;
}

/**
 * Return how wide a picture is, for browsers that choose before they know it: at most its width.
 * Those that know `auto` wait until they do, if it is loaded late.
 *
 * @param {number} width NaN for one that may be as wide as the window
 * @param {'eager' | 'lazy'} loading
 */
function sizesOf(width, loading) {
  const most = Number.isNaN(width) ? '100vw' : `(max-width: ${width}px) 100vw, ${width}px`;
  return loading === 'lazy' ? `auto, ${most}` : most;
}
