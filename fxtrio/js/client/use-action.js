/** `useAction`: a server action as a function with state. */

import { useCallback, useMemo, useRef, useState } from 'react';

import { actionUrl, callAction } from './action-call.js';
import { useRoute } from './contexts.js';
import { isWebUrl } from './payload.js';

/** @typedef {import('./action-call.js').ActionResult} ActionResult */

/**
 * @typedef {object} ActionState
 * @property {boolean} pending
 * @property {any} data what the last call returned; null before one, and after a failure
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
 * @param {string} name
 * @param {{ page?: string, throws?: boolean }} [options] `page` is the path of another page that
 *   defines it; with `throws` a failure is an ActionFailure
 */
export function useAction(name, { page, throws = false } = {}) {
  const [state, setState] = useState(UNCALLED);
  const call = useActionCall(name, page);
  const latest = useRef(0);
  const run = useCallback(
    /** @param {unknown} [payload] */
    async (payload) => {
      latest.current += 1;
      const number = latest.current;
      setState((before) => ({ ...before, pending: true }));
      const result = await call(payload);
      if (number === latest.current) setState(stateOf(result));
      if (throws && !result.ok) throw new ActionFailure(result);
      return result;
    },
    [call, throws],
  );
  return useMemo(() => {
    /** @param {unknown} [payload] */
    const action = (payload) => run(payload);
    return Object.assign(action, state);
  }, [run, state]);
}

/**
 * Return a function that calls an action, and does what its answer asks of the router.
 *
 * @param {string} name
 * @param {string} [page]
 * @returns {(payload?: unknown) => Promise<ActionResult>}
 */
export function useActionCall(name, page) {
  const { state, base, runtime } = useRoute('useAction');
  const url = actionUrl({ base, page: page ?? state.requestedPath, name });
  return useCallback(
    async (payload) => {
      if (runtime === null) throw new Error(`${name}: actions are called in the browser only.`);
      const result = await callAction({
        fetch,
        url,
        payload,
        cookies: document.cookie,
        invalidate: (invalid) => runtime.router.invalidate(invalid),
      });
      if (typeof result.redirect === 'string') {
        if (!isWebUrl(result.redirect, new URL(location.href))) {
          throw new TypeError(`${name}: it redirects to ${result.redirect}, which is no page.`);
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
 * @returns {ActionState}
 */
export function stateOf(result) {
  if (!result.ok) {
    const { error = '', fields } = result;
    return { ...UNCALLED, error, fields };
  }
  const { ok: _, fields, ...data } = result;
  return { pending: false, data, error: null, fields };
}
