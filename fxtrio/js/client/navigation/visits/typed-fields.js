/**
 * What a visitor has typed into the fields of a page, for the way back to it: a browser restores
 * it in documents, and knows nothing of pages that a router shows.
 */

const SELECTOR = '#fx-root :is(input, textarea, select)';
/** Their values are no text of the visitor, or must not be kept. */
const OTHER_TYPES = new Set(['password', 'file', 'hidden', 'submit', 'button', 'reset', 'image']);
/** Names of fields that are never kept, also where `type` shows their text: as on the server. */
const PRIVATE_PARTS =
  /password|passwd|passphrase|passcode|pwd|secret|token|securitycode|onetimecode|cardnumber|apikey|privatekey|accesskey/;
const PRIVATE_WORDS = /^(?:pass|pin|otp|totp|tan|cvv|cvc|csc|ssn|iban)$/i;
/** Values of `autocomplete` with which a browser keeps nothing either, or should not. */
const PRIVATE_USE = /^off$|password|one-time-code|cc-/i;

/**
 * @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field
 * @typedef {string | boolean | string[]} Typed text, whether it is checked, or what is selected
 */

/**
 * Return what differs from the defaults, by field.
 *
 * @param {Document} document
 * @returns {Map<string, Typed>}
 */
export function readTyped(document) {
  /** @type {Map<string, Typed>} */
  const found = new Map();
  for (const [key, field] of fieldsOf(document)) {
    const [value, initial] = valuesOf(field);
    if (JSON.stringify(value) !== JSON.stringify(initial)) found.set(key, value);
  }
  return found;
}

/**
 * Put what was typed back into its fields.
 *
 * @param {Document} document
 * @param {ReadonlyMap<string, Typed>} typed
 */
export function restoreTyped(document, typed) {
  if (typed.size === 0) return;
  for (const [key, field] of fieldsOf(document)) {
    const value = typed.get(key);
    if (typeof value === 'boolean') /** @type {HTMLInputElement} */ (field).checked = value;
    else if (typeof value === 'string') field.value = value;
    else if (value !== undefined) {
      for (const option of optionsOf(field)) option.selected = value.includes(option.value);
    }
  }
}

/**
 * Yield the fields whose text may be kept, each by what tells it apart on its page.
 *
 * @param {Document} document
 * @returns {Generator<[string, Field]>}
 */
function* fieldsOf(document) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const element of document.querySelectorAll(SELECTOR)) {
    const field = /** @type {Field} */ (element);
    const same = [field.type, field.name, field.id].join(' ');
    const count = counts.get(same) ?? 0;
    counts.set(same, count + 1);
    if (!isPrivate(field) && !isControlled(field)) yield [`${same} ${count}`, field];
  }
}

/** @param {Field} field */
function isPrivate(field) {
  const use = field.autocomplete || field.form?.autocomplete || '';
  return OTHER_TYPES.has(field.type) || PRIVATE_USE.test(use) || isPrivateName(field.name);
}

/**
 * Whether a field of this name may hold a secret: the same rule as for what the server sends back
 * to fill in a form (`is_private`).
 *
 * @param {string} name
 */
export function isPrivateName(name) {
  if (name.startsWith('_')) return true;
  if (PRIVATE_PARTS.test(name.replace(/[\W_]/g, '').toLowerCase())) return true;
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
  return words.split(/[^A-Za-z]/).some((word) => PRIVATE_WORDS.test(word));
}

/**
 * Whether a component has the value. React has no other way to ask than the properties that it
 * notes on its elements.
 *
 * @param {Field} field
 */
function isControlled(field) {
  const noted = Object.entries(field).find(([key]) => key.startsWith('__reactProps$'))?.[1];
  const { type } = field;
  return noted?.[type === 'checkbox' || type === 'radio' ? 'checked' : 'value'] !== undefined;
}

/**
 * @param {Field} field
 * @returns {[value: Typed, initial: Typed]}
 */
function valuesOf(field) {
  if (field.type === 'checkbox' || field.type === 'radio') {
    const { checked, defaultChecked } = /** @type {HTMLInputElement} */ (field);
    return [checked, defaultChecked];
  }
  if (!('options' in field)) return [field.value, field.defaultValue];
  const options = optionsOf(field);
  const selected = options.filter((one) => one.selected).map(({ value }) => value);
  return [selected, []]; // React marks no option as the default one in a document
}

/** @param {Field} field */
function optionsOf(field) {
  return 'options' in field ? [...field.options] : [];
}
