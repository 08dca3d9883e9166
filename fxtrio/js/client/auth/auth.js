/** `useAuth`: who is signed in, and signing in and out. */

import { useEffect, useMemo } from 'react';

import { AuthStore, stateOf, UNKNOWN } from './auth-store.js';
import { useRoute } from '../contexts.js';
import { invalidate } from '../navigation/invalidate.js';
import { useStore } from '../store.js';

/**
 * Return the signed-in user of the auth plugin and the functions that change it. After a
 * change, everything kept for navigation is forgotten and the page's data is loaded anew.
 */
export function useAuth() {
  const { state, runtime } = useRoute('useAuth');
  const { user: known } = state;
  const rendered = useMemo(() => (known === undefined ? UNKNOWN : stateOf(known)), [known]);
  const { status, user, error } = useStore(storeOf(runtime, known), rendered);
  useEffect(() => {
    void storeOf(runtime)?.ensure();
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
    const result = await storeOf(runtime).post(name, payload);
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
    refresh: async () => storeOf(runtime)?.refresh(),
  };
}

/**
 * Return the store of an app, which is made when it is first asked for.
 *
 * @template {import('../runtime.js').Runtime | null} App
 * @param {App} runtime
 * @param {import('../types.js').User | null} [user] who is signed in, as the page's state says
 * @returns {App extends null ? null : AuthStore}
 */
function storeOf(runtime, user) {
  if (runtime === null) return /** @type {any} */ (null);
  runtime.auth ??= new AuthStore({
    fetch: window.fetch.bind(window),
    base: runtime.base,
    user,
    cookies: () => document.cookie,
  });
  return /** @type {any} */ (runtime.auth);
}
