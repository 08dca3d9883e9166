/** `Font`: a font of the project that is loaded with the page. */

import { createElement } from 'react';

import { Head } from '../head/component.js';

/**
 * A font as `import inter from './inter.woff2?font'` has it: the URL of its file, what stands for
 * it in `font-family`, and its media type.
 *
 * @typedef {{ src: string, family: string, type: string }} FontFile
 */

/**
 * Load a font with the page, before any text is found to need it. Those that few pages need are
 * loaded when they are needed.
 *
 * @param {{ src: FontFile }} props
 */
export function Font({ src }) {
  const link = { rel: 'preload', as: 'font', type: src.type, href: src.src };
  return createElement(Head, null, createElement('link', { ...link, crossOrigin: 'anonymous' }));
}
