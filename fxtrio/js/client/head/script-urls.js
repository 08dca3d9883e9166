/** Attributes whose value a browser would run as a script. Pure. */

/** Browsers skip these in front of a scheme and, in part, inside it. */
const IGNORED = /[\0- \x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060\ufeff]/g;
const SCRIPT_URL = /^(java|vb|live)script:/i;

/**
 * Whether a browser that follows an attribute's value would run it as a script.
 *
 * @param {string} name
 * @param {string} value
 * @param {boolean} refreshes whether it is of a `<meta http-equiv>`, whose content may hold a URL
 */
export function isScript(name, value, refreshes) {
  const plain = value.replace(IGNORED, '');
  if (name === 'content') return refreshes && /(java|vb|live)script:/i.test(plain);
  if (name.endsWith('srcset')) return plain.split(',').some((part) => SCRIPT_URL.test(part));
  return SCRIPT_URL.test(plain);
}
