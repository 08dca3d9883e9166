/**
 * Elements that are given HTML as text. What is written down is looked at by the proof; what is known
 * only when a page is rendered is looked at then (`render/set-html.js`), and the proof sees to it that
 * the elements around it allow what may be in it.
 */

import { walk } from '../../check/tree.js';
import { drawingAround, shortened } from '../nesting/nesting.js';
import { aroundHtml, htmlProblem, isDrawing } from './html.js';

/** @typedef {import('../../check/tree.js').Node} Node */

export const SET_HTML = 'dangerouslySetInnerHTML';

/** Elements that must not have another such element in them, or what ends them. */
const RESTRICTING = /^(a|button|form|nobr|p)$/;

/**
 * Return why browsers may rearrange the HTML that an element is given, or run a part of it; "" if they
 * do neither.
 *
 * @param {Node} tag
 * @param {string} host the element
 * @param {string[]} around elements around it, the innermost last
 * @param {import('../module.js').Module} module
 * @returns {string}
 */
export function setHtmlProblem(tag, host, around, module) {
  const attribute = tag.attributes.findLast(
    (/** @type {Node} */ { name }) => name?.type === 'JSXIdentifier' && name.name === SET_HTML,
  );
  if (attribute === undefined) return '';
  const html = literalOf(attribute, module);
  if (html !== undefined) {
    // A part of a drawing may be the whole of a component.
    const problem = htmlProblem(html, around.length > 0 ? [...around, host] : aroundHtml(host));
    return problem === '' ? '' : `${problem} in the HTML of <${host}>`;
  }
  const outer = outerOf(host, around);
  return outer === undefined ? '' : `HTML of <${host}> in <${outer}>, where it may not be allowed`;
}

/**
 * Return which element around one may not allow all HTML that this may get.
 *
 * @param {string} host
 * @param {string[]} around
 * @returns {string | undefined}
 */
function outerOf(host, around) {
  const [drawing] = aroundHtml(host);
  if (drawing === host && isDrawing(host)) return undefined;
  const found = drawingAround(around);
  const isPart = drawing !== host;
  if (isPart || found !== undefined) {
    return around.length === 0 || found === drawing ? undefined : (found ?? around.at(-1));
  }
  return shortened(around).find((one) => RESTRICTING.test(one));
}

/**
 * Return HTML that is written down as the value of an attribute.
 *
 * @param {Node} attribute
 * @param {import('../module.js').Module} [module] in which names are followed
 * @returns {string | undefined}
 */
export function literalOf({ value }, module) {
  const { type, properties } = value?.expression ?? {};
  if (type !== 'ObjectExpression' || properties.length !== 1) return undefined;
  const [{ type: kind, key, value: written, computed, method }] = properties;
  if (kind !== 'Property' || computed || method || (key.name ?? key.value) !== '__html') {
    return undefined;
  }
  const variable = written.type === 'Identifier' ? module?.variableOf(written) : undefined;
  const isConstant = variable && !module?.isWritten(variable);
  const html = (isConstant && module?.initOf(variable)) || written;
  if (html.type === 'Literal') return typeof html.value === 'string' ? html.value : undefined;
  const isText = html.type === 'TemplateLiteral' && html.expressions.length === 0;
  return isText ? html.quasis[0].value.cooked : undefined;
}

/** Elements whose children must be one text (`texts.js`). */
const ONE_TEXT = /^(?:pre|style|title)$/;

/** What needs a look when it is rendered, in the text of a module. */
export const LOOKED_AT = new RegExp(`${SET_HTML}|<(?:pre|style|title)\\b`);

/** Expressions that are a text whatever they get. */
const TEXTS = new Set(['Literal', 'TemplateLiteral', 'BinaryExpression', 'UnaryExpression']);

/** Return the only child of an element if it is known when it is rendered. @param {Node} element */
function onlyChild({ openingElement, children }) {
  const attribute = openingElement.attributes.find(
    (/** @type {Node} */ { name }) => name?.name === 'children',
  );
  const inside = children.filter(
    (/** @type {Node} */ { type, value }) => type !== 'JSXText' || value.trim() !== '',
  );
  const only = inside.length === 0 ? attribute?.value : inside.length === 1 ? inside[0] : undefined;
  const isKnown = only?.type !== 'JSXExpressionContainer' || TEXTS.has(only.expression.type);
  return isKnown || only.expression.type === 'JSXEmptyExpression' ? undefined : only.expression;
}

/**
 * Let HTML that elements of a module are given, and children that are to be one text, be looked at when
 * they are rendered.
 *
 * @param {string} code whose lines remain the same
 * @param {Node} program its tree
 * @param {string} file the module that looks at it
 * @returns {string}
 */
export function withChecks(code, program, file) {
  /** @type {[number, string][]} */
  const added = [];
  walk(program, (node) => {
    if (node.type === 'JSXElement' && ONE_TEXT.test(node.openingElement.name.name ?? '')) {
      const only = onlyChild(node);
      const host = JSON.stringify(node.openingElement.name.name);
      if (only) added.push([only.start, '__fx_oneText('], [only.end, `, ${host})`]);
      return;
    }
    if (node.type !== 'JSXOpeningElement' || !/^[a-z]/.test(node.name.name ?? '')) return;
    for (const one of node.attributes) {
      const { name, value } = one;
      if (name?.name !== SET_HTML || value?.type !== 'JSXExpressionContainer') continue;
      if (literalOf(one) !== undefined) continue;
      const { start, end } = value.expression;
      added.push([start, '__fx_checked('], [end, `, ${JSON.stringify(node.name.name)})`]);
    }
  });
  if (added.length === 0) return code;
  let checked = code;
  for (const [at, text] of added.sort(([one], [other]) => other - one)) {
    checked = checked.slice(0, at) + text + checked.slice(at);
  }
  const names = ['checked', 'oneText'].filter((name) => checked.includes(`__fx_${name}(`));
  const imported = names.map((name) => `${name} as __fx_${name}`).join(', ');
  return `${checked}\nimport { ${imported} } from ${JSON.stringify(file)};`;
}
