/**
 * Elements that browsers read as they are written. What is on no list may have rules of its own:
 * `<plaintext>` never ends, `<image>` is read as `<img>`, and what is in `<xmp>` is text.
 */

/** Of HTML. What only pages in development have, such as `<head>`, is left out. */
const HTML = [
  'a abbr address area article aside audio b bdi bdo big blockquote br button canvas caption center cite',
  'code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption',
  'figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img input ins kbd label legend li',
  'link main map mark menu meta meter nav noscript object ol optgroup option output p picture pre progress',
  'q rb rp rt rtc ruby s samp search section select slot small source span strike strong style sub summary',
  'sup table tbody td textarea tfoot th thead time title tr track tt u ul var video wbr',
];

/** Of drawings. */
const SVG = [
  'animate animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix',
  'feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight',
  'feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode',
  'feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence filter',
  'foreignObject g image line linearGradient marker mask metadata mpath path pattern polygon polyline',
  'radialGradient rect set stop svg switch symbol text textPath tspan use view',
];

/** Of formulas. */
const MATH = [
  'annotation maction math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom',
  'mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder',
  'munderover semantics',
];

/** The names of all. */
export const ELEMENTS = [...HTML, ...SVG, ...MATH].flatMap((line) => line.split(' '));

const KNOWN = new Set(ELEMENTS);

/** Elements that drawings have and documents do not. */
export const DRAWN = new Set(SVG.flatMap((line) => line.split(' ')));

/** Elements that formulas have. */
export const FORMULAS = new Set(MATH.flatMap((line) => line.split(' ')));

/** @param {string} name */
export function isKnownElement(name) {
  return KNOWN.has(name);
}
