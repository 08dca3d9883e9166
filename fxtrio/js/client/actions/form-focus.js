/**
 * The keyboard focus during a call of an action, and the fields that the call has found invalid.
 *
 * A button that is disabled while its call is pending loses the focus to `<body>`: the keyboard
 * then begins at the top of the page, and a screen reader is silent.
 */

import { useCallback, useEffect, useRef } from 'react';

/**
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field
 * @typedef {{ element: Element | null, form: HTMLFormElement | null, moves: boolean }} Held
 */

/**
 * Give the focus back to what had it when the call began, or to the first invalid field. Returns
 * what remembers the focus, to be called when a call begins; with a form it may move the focus
 * from wherever it is in that form, without one only from a button of a form.
 *
 * @param {{ pending: boolean, fields: Record<string, string[]> }} state of the last call
 * @returns {(form?: HTMLFormElement) => void}
 */
export function useFormFocus(state) {
  const held = useRef(/** @type {Held | null} */ (null));
  const marks = useRef(/** @type {(() => void)[]} */ ([]));
  useEffect(() => {
    if (state.pending || held.current === null) return;
    const { element, form, moves } = held.current;
    held.current = null;
    for (const undo of marks.current.splice(0)) undo();
    const invalid = form === null ? [] : invalidFields(form, state.fields);
    for (const field of invalid) marks.current.push(...mark(field, state.fields[field.name]));
    if (!hasFocus(null) && !hasFocus(element)) return; // the visitor has gone on
    const target = moves && invalid.length > 0 ? invalid[0] : element;
    if (target instanceof HTMLElement && !hasFocus(target)) target.focus();
  }, [state]);
  return useCallback((form) => {
    const active = document.activeElement;
    const element = hasFocus(null) ? (held.current?.element ?? null) : active;
    const around = form ?? element?.closest('form') ?? null;
    held.current = { element, form: around, moves: form !== undefined || isButton(element) };
  }, []);
}

/**
 * Whether `element` has the focus; with null, whether nothing has it.
 *
 * @param {Element | null} element
 */
function hasFocus(element) {
  const active = document.activeElement;
  return element === null ? active === null || active === document.body : active === element;
}

/** @param {Element | null} element */
function isButton(element) {
  return element instanceof HTMLButtonElement || element?.getAttribute('type') === 'submit';
}

/**
 * Return the fields of a form that have messages, in the order of the document.
 *
 * @param {HTMLFormElement} form
 * @param {Record<string, string[]>} fields
 */
export function invalidFields(form, fields) {
  const named = /** @type {Field[]} */ ([...form.elements].filter((one) => 'name' in one));
  return named.filter(
    ({ name, type }) => type !== 'hidden' && Object.hasOwn(fields, name) && fields[name].length > 0,
  );
}

/**
 * Let assistive technology know that a field is invalid, and why. What the app says itself stays.
 *
 * @param {Field} field
 * @param {string[]} messages
 * @returns {(() => void)[]} take it back
 */
function mark(field, messages) {
  const undo = [];
  if (!field.hasAttribute('aria-invalid')) {
    field.setAttribute('aria-invalid', 'true');
    undo.push(() => field.removeAttribute('aria-invalid'));
  }
  const hint = field.hasAttribute('aria-describedby') ? null : elementWith(field, messages[0]);
  if (hint !== null) {
    hint.id ||= `${field.id || field.name}-fx-error`;
    field.setAttribute('aria-describedby', hint.id);
    undo.push(() => field.removeAttribute('aria-describedby'));
  }
  return undo;
}

/**
 * Return the element of the field's form that shows `message`: the first one after the field,
 * else the last one before it.
 *
 * @param {Field} field
 * @param {string} message
 */
function elementWith(field, message) {
  const root = field.form ?? document.body;
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {HTMLElement | null} */
  let before = null;
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.nodeValue?.includes(message) || field.contains(text)) continue;
    before = text.parentElement;
    if (field.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) return before;
  }
  return before;
}
