/** `useAuth`: who is signed in, and signing in and out. */

import { useEffect, useMemo } from 'react';

import { stateOf, UNKNOWN } from './auth-store.js';
import { useRoute } from '../contexts.js';
import { invalidate } from '../navigation/invalidate.js';
import { useStore } from '../store.js';

/**
 * Return the signed-in user of the auth plugin and the functions that change it. After a
 * change, everything kept for navigation is forgotten and the page's data is loaded anew.
 */
export function useAuth() {
  const { state, runtime } = useRoute('useAuth');
  const { user: given } = state;
  const rendered = useMemo(() => (given === undefined ? UNKNOWN : stateOf(given)), [given]);
  const { status, user, error } = useStore(runtime?.auth ?? null, rendered);
  useEffect(() => {
    void runtime?.auth.ensure();
  }, [runtime]);
  const actions = useMemo(() => actionsOf(runtime), [runtime]);
  const isAuthenticated = status === 'signed-in';
  return { status, user, error, isAuthenticated, loading: status === 'loading', ...actions };
}

/** @param {import('../runtime.js').Runtime | null} runtime */
function actionsOf(runtime) {
  /**
   * @param {'login' | 'logout' | 'logout-all' | 'register'} name
   * @param {object} payload
   */
  const post = async (name, payload) => {
    if (runtime === null) throw new Error('useAuth: call it in the browser only.');
    const result = await runtime.auth.post(name, payload);
    if (result.ok && name !== 'register') {
      invalidate(runtime);
      await runtime.router.refresh();
    }
    return result;
  };
  const register = (/** @type {object} */ details) => post('register', details);
  return {
    login: (/** @type {object} */ credentials) => post('login', credentials),
    logout: () => post('logout', {}),
    logoutEverywhere: () => post('logout-all', {}),
    register,
    signup: register,
    refresh: async () => runtime?.auth.refresh(),
  };
}
