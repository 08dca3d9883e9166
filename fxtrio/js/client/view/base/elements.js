/**
 * Elements in the browser of an app that is served below a path: they have the base in front of
 * each path of the app, as the server's HTML has (`render/mounted.js`). Pure.
 */

import { basedValue, isKnown } from './attributes.js';
import { basedHtml } from './html.js';

const TEXT = new Set(['script', 'style', 'textarea', 'title']);

/**
 * Return what gives elements the base.
 *
 * @param {string} base
 * @returns {import('./based.js').Based}
 */
export function below(base) {
  return {
    props: (type, props) => basedProps(type, props, base),
    attributes: (tag, attributes) => {
      const pairs = Object.entries(attributes).map(([name, value]) => [
        name,
        basedValue(tag, name, value, base, (one) => attributes[one]),
      ]);
      return Object.fromEntries(pairs);
    },
  };
}

/**
 * Return the properties of an element with the base in front of each path of the app.
 *
 * @param {any} type
 * @param {any} props
 * @param {string} base
 */
export function basedProps(type, props, base) {
  if (typeof type !== 'string' || !isKnown(type)) return props;
  let based = props;
  for (const name of Object.keys(props)) {
    const value = props[name];
    const changed = changedValue(type, name, value, base, props);
    if (changed !== value) based = { ...based, [name]: changed };
  }
  return based;
}

/**
 * @param {string} type
 * @param {string} name
 * @param {any} value
 * @param {string} base
 * @param {any} props
 */
function changedValue(type, name, value, base, props) {
  if (typeof value === 'string') {
    return value.includes('/') ? basedValue(type, name, value, base, (one) => props[one]) : value;
  }
  if (name !== 'dangerouslySetInnerHTML' || TEXT.has(type)) return value;
  const html = value?.__html;
  const changed = typeof html === 'string' ? basedHtml(html, base, type) : html;
  return changed === html ? value : { ...value, __html: changed };
}
