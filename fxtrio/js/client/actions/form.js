/** `Form`: a form that calls a server action or goes to a page, with JavaScript or without. */

import { createElement, useState } from 'react';
import { flushSync } from 'react-dom';

import { actionUrl } from './action-call.js';
import { useRoute } from '../contexts.js';
import { useFormFocus } from './form-focus.js';
import { useOptimisticData } from './optimistic.js';
import { Reading } from './reading.js';
import { SearchForm } from './search-form.js';
import { stateOf, uncalled, UNCALLED, useActionCall, useLatestReading } from './use-action.js';

/**
 * @typedef {import('../types.js').ActionData} ActionData
 * @typedef {import('./use-action.js').ActionState & { values: ActionData['values'] }} FormState
 * @typedef {Omit<import('react').ComponentProps<'form'>, 'action' | 'method' | 'onError' | 'children'> & {
 *   action: string,
 *   page?: string,
 *   onSuccess?: (data: any) => void,
 *   onError?: (message: string, fields: Record<string, string[]>, data: Record<string, any>) => void,
 *   refresh?: boolean,
 *   reset?: boolean,
 *   optimistic?: import('./optimistic.js').Change,
 *   reduce?: import('./reading.js').Reduce,
 *   initial?: any,
 *   children?: import('react').ReactNode | ((state: FormState & { stop: () => void, optimistic: any }) => import('react').ReactNode),
 *   method?: 'post' | 'POST',
 * }} ActionFormProps
 * @typedef {ActionFormProps | import('./search-form.js').SearchFormProps} FormProps
 */

/** @type {ActionData['values']} */
const NO_VALUES = Object.freeze({});

/**
 * A form whose submission calls the action named `action`; with the method GET, one whose fields
 * become the query of the page at `action`.
 *
 * @param {FormProps} props
 */
export function Form(props) {
  if (props.method?.toLowerCase() !== 'get') {
    return createElement(ActionForm, /** @type {ActionFormProps} */ (props));
  }
  return createElement(
    SearchForm,
    /** @type {import('./search-form.js').SearchFormProps} */ (props),
  );
}

/**
 * A form whose submission calls the action named `action`.
 *
 * `children` may be a function of the state `{pending, data, error, fields, values}`. After
 * success the page's data is loaded anew unless there is an `onSuccess`; `refresh` decides
 * otherwise. `reset` empties the fields after success.
 *
 * Of an action that streams, `data` is what `reduce` has made of its values so far, beginning
 * with `initial`; without them it is the last value. `stop()` ends it.
 *
 * `optimistic` says what the data of the page will be, from its data and the form's: the children
 * get it as `optimistic`. The data is always loaded anew then.
 *
 * `values` has what was typed into a form that was sent without JavaScript and failed, for
 * `defaultValue`; with JavaScript the fields keep it by themselves.
 *
 * @param {ActionFormProps} props
 */
function ActionForm(props) {
  const { action, page, onSuccess, onError, refresh, reset = false, children, ...others } = props;
  const { reduce, initial, optimistic, ...rest } = others;
  const { state: route, base, runtime } = useRoute('Form');
  const [state, setState] = useState(() => initialState(route.actionData, action, initial));
  const call = useActionCall(action, page);
  const { latest: busy, stop } = useLatestReading();
  const holdFocus = useFormFocus(state);
  const { expected, during } = useOptimisticData('Form', optimistic);
  const submit = async (/** @type {import('react').FormEvent<HTMLFormElement>} */ event) => {
    rest.onSubmit?.(/** @type {any} */ (event));
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (busy.current) return;
    const reading = new Reading({ reduce, initial }, (streamed) =>
      setState({ ...UNCALLED, pending: true, data: streamed, values: NO_VALUES }),
    );
    busy.current = reading;
    const form = event.currentTarget;
    const data = new FormData(form, /** @type {SubmitEvent} */ (event.nativeEvent).submitter);
    holdFocus(form);
    setState((before) => ({ ...before, pending: true }));
    const result = await during(data, () => call(data, reading));
    busy.current = null;
    const after = stateOf(result, reading);
    if (reading.thrown.length > 0) throw reading.thrown[0];
    if (!result.ok) {
      setState(({ values }) => ({ ...after, values }));
      if (!result.stopped) onError?.(result.error ?? '', result.fields, result.data ?? {});
      return;
    }
    // At once: `reset` puts back the values that are the default by then.
    flushSync(() => setState({ ...after, values: NO_VALUES }));
    if (reset) form.reset();
    onSuccess?.(after.data);
    if (reloads({ refresh, onSuccess, optimistic }, result)) await runtime?.router.refresh();
  };

  return createElement(
    'form',
    {
      encType: 'multipart/form-data',
      ...rest,
      'aria-busy': state.pending || undefined,
      action: actionUrl({ base, page: page ?? route.requestedPath, name: action }),
      method: 'post',
      onSubmit: submit,
    },
    typeof children === 'function' ? children({ ...state, stop, optimistic: expected }) : children,
  );
}

/**
 * Whether the page's data is to be loaded anew after success. For what was expected of it, it has
 * been already.
 *
 * @param {Pick<ActionFormProps, 'refresh' | 'onSuccess' | 'optimistic'>} props
 * @param {import('./action-call.js').ActionResult} result
 */
function reloads({ refresh, onSuccess, optimistic }, result) {
  if (optimistic !== undefined || result.redirect !== undefined) return false;
  return refresh ?? onSuccess === undefined;
}

/**
 * Return what a form shows at first: the failure of a submission without JavaScript.
 *
 * @param {import('../types.js').ActionData | undefined} actionData
 * @param {string} action
 * @param {any} [initial] its `data` before a value of the action
 * @returns {FormState}
 */
export function initialState(actionData, action, initial) {
  if (actionData?.action !== action) {
    return { ...uncalled(initial), values: NO_VALUES };
  }
  const { values, ...result } = actionData;
  return { ...stateOf(result, new Reading({ initial })), values };
}
