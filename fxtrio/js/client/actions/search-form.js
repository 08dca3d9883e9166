/** `<Form method="get">`: a form whose fields become the query of a page. */

import { createElement } from 'react';

import { useRoute } from '../contexts.js';
import { useNavigation } from '../navigation/hooks.js';
import { UNCALLED } from './use-action.js';
import { isSamePath, pathOf, queryOf, searchUrl, withBase } from '../navigation/urls.js';

/**
 * @typedef {import('./form.js').FormState} FormState
 * @typedef {Omit<import('react').ComponentProps<'form'>, 'action' | 'method' | 'onError' | 'children'> & {
 *   method: 'get' | 'GET',
 *   action?: string,
 *   replace?: boolean,
 *   scroll?: boolean,
 *   children?: import('react').ReactNode | ((state: FormState) => import('react').ReactNode),
 * }} SearchFormProps
 */

/**
 * A form that goes to the page at the path `action`, by default the one that is shown, with its
 * fields as the query: without a new document, and without JavaScript as any form does.
 *
 * Its state, for `children`, is that of a form that has not been sent: `pending` while the page
 * is loading, and `values` with the query of the page when that is the form's own.
 *
 * @param {SearchFormProps} props
 */
export function SearchForm({ action, method, replace, scroll, children, ...rest }) {
  const { state: route, base, runtime } = useRoute('Form');
  const { to } = useNavigation();
  const target = withBase(action ?? pathOf(route.requestedPath), base);
  const isOwn = isSamePath(target, route.requestedPath, base);
  const pending = to !== null && to.includes('?') && isSamePath(to, target, base);

  /** @param {import('react').FormEvent<HTMLFormElement>} event */
  const submit = (event) => {
    rest.onSubmit?.(/** @type {any} */ (event));
    const form = event.currentTarget;
    const submitter = /** @type {SubmitEvent} */ (event.nativeEvent).submitter;
    if (event.defaultPrevented || isElsewhere(form, submitter)) return;
    if (runtime === null || runtime.router.resolve(target) === null) return;
    event.preventDefault();
    const url = searchUrl(target, new FormData(form, submitter));
    void runtime.router.navigate(url, { replace, scroll });
  };

  const values = isOwn ? valuesOf(queryOf(route.requestedPath)) : {};
  return createElement(
    'form',
    { ...rest, 'aria-busy': pending || undefined, action: target, method, onSubmit: submit },
    typeof children === 'function' ? children({ ...UNCALLED, pending, values }) : children,
  );
}

/**
 * Whether a form, or the button that sends it, asks for another window, URL or method.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
function isElsewhere(form, submitter) {
  const target = submitter?.getAttribute('formtarget') ?? form.target;
  const other = ['formaction', 'formmethod'].some((name) => submitter?.hasAttribute(name));
  return other || (target !== '' && target !== '_self');
}

/**
 * Return a query by name: text, or a list of it where a name comes more than once.
 *
 * @param {string} query
 * @returns {Record<string, string | string[]>}
 */
export function valuesOf(query) {
  const all = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(all.keys())].map((name) => {
      const values = all.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
