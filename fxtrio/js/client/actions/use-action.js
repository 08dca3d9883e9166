/** `useAction`: a server action as a function with state. */

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { actionUrl, callAction } from './action-call.js';
import { useRoute } from '../contexts.js';
import { useFormFocus } from './form-focus.js';
import { invalidate } from '../navigation/invalidate.js';
import { useOptimisticData } from './optimistic.js';
import { isWebUrl } from '../navigation/urls.js';
import { Reading } from './reading.js';

/** @typedef {import('./action-call.js').ActionResult} ActionResult */

/**
 * @typedef {object} ActionState
 * @property {boolean} pending
 * @property {any} data what the last call returned; null before one, and after a failure. Of an
 *   action that streams: what its values have come to, also after a failure; `initial` before them
 * @property {string | null} error
 * @property {Record<string, string[]>} fields
 */

/**
 * Before the first call.
 *
 * @type {ActionState}
 */
export const UNCALLED = Object.freeze({
  pending: false,
  data: null,
  error: null,
  fields: Object.freeze({}),
});

/**
 * The same where `data` is not null but what values are added to.
 *
 * @param {any} [initial]
 * @returns {ActionState}
 */
export function uncalled(initial = null) {
  return initial === null ? UNCALLED : { ...UNCALLED, data: initial };
}

/** An action has failed, thrown for who asks for it. */
export class ActionFailure extends Error {
  name = 'ActionFailure';

  /** @param {ActionResult} result */
  constructor({ error = '', fields, data }) {
    super(error);
    this.fields = fields;
    this.data = data;
  }
}

/**
 * Return an action of the page as a function; `pending`, `data`, `error` and `fields` on it
 * are those of its last call. It resolves with the result, and never throws unless that is
 * asked for.
 *
 * Of an action that streams, `data` is what `reduce` has made of the values so far, beginning with
 * `initial`; without them it is the last value. `stop()` ends the call, and so does the next one
 * or the end of the component.
 *
 * `optimistic` on it is the `data` of the page, with what the option of this name makes of it for
 * each call that is under way.
 *
 * @param {string} name
 * @param {{ page?: string, throws?: boolean, optimistic?: import('./optimistic.js').Change }
 *   & import('./reading.js').ReadingOptions} [options] `page` is the path of another page that
 *   defines it; with `throws` a failure is an ActionFailure
 */
export function useAction(name, { page, throws = false, reduce, initial, optimistic } = {}) {
  const [state, setState] = useState(() => uncalled(initial));
  const call = useActionCall(name, page);
  const options = useRef({ reduce, initial });
  useEffect(() => {
    options.current = { reduce, initial };
  });
  const { latest, stop } = useLatestReading();
  const holdFocus = useFormFocus(state);
  const { expected, during } = useOptimisticData('useAction', optimistic);
  const run = useCallback(
    /** @param {unknown} [payload] */
    async (payload) => {
      latest.current?.leave();
      const reading = new Reading(options.current, (data) => {
        if (reading === latest.current) setState({ ...UNCALLED, pending: true, data });
      });
      latest.current = reading;
      holdFocus();
      setState((before) => ({ ...before, pending: true }));
      const result = await during(payload, () => call(payload, reading));
      if (reading === latest.current) setState(stateOf(result, reading));
      if (reading.thrown.length > 0) throw reading.thrown[0];
      if (throws && !result.ok) throw new ActionFailure(result);
      return result;
    },
    [call, during, throws, latest, holdFocus],
  );
  return useMemo(() => {
    /** @param {unknown} [payload] */
    const action = (payload) => run(payload);
    return Object.assign(action, state, { optimistic: expected, stop });
  }, [run, state, expected, stop]);
}

/**
 * Return the place of the call under way, which ends with its component if it streams, and a
 * function that stops it.
 */
export function useLatestReading() {
  /** @type {import('react').RefObject<Reading | null>} */
  const latest = useRef(null);
  useEffect(() => () => latest.current?.leave(), []);
  const stop = useCallback(() => latest.current?.stop(), []);
  return { latest, stop };
}

/**
 * Return a function that calls an action, and does what its answer asks of the router.
 *
 * @param {string} name
 * @param {string} [page]
 * @returns {(payload: unknown, reading: Reading) => Promise<ActionResult>}
 */
export function useActionCall(name, page) {
  const { state, base, runtime } = useRoute('useAction');
  const url = actionUrl({ base, page: page ?? state.requestedPath, name });
  return useCallback(
    async (payload, reading) => {
      if (runtime === null) throw new Error(`${name}: actions are called in the browser only.`);
      const result = await callAction({
        fetch,
        url,
        payload,
        cookies: document.cookie,
        invalidate: (invalid) => invalidate(runtime, invalid),
        reading,
      });
      if (typeof result.redirect === 'string') {
        if (!isWebUrl(result.redirect, new URL(location.href))) {
          throw new TypeError(`${name}: it redirects to ${result.redirect}, which is not a page.`);
        }
        runtime.router.forgetPrefetched(); // the pages that link to it were, most often
        await runtime.router.navigate(result.redirect, { fresh: true });
      }
      return result;
    },
    [name, url, runtime],
  );
}

/**
 * @param {ActionResult} result
 * @param {Reading} [reading] whose values it ends
 * @returns {ActionState}
 */
export function stateOf(result, reading) {
  if (reading?.streamed || result.stopped) {
    const error = result.ok || result.stopped ? null : (result.error ?? '');
    return { pending: false, data: reading?.data ?? null, error, fields: result.fields };
  }
  if (!result.ok) {
    const { error = '', fields } = result;
    return { ...uncalled(reading?.data), error, fields };
  }
  const { ok: _, fields, ...data } = result;
  return { pending: false, data, error: null, fields };
}
