/** The root component: shows one view after the other. */

import {
  Component,
  createElement,
  startTransition,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
} from 'react';

import { RouteContext } from './contexts.js';
import { translated } from './view/messages.js';
import { stopValues } from './view/promises.js';
import { createTree } from './view/tree.js';

/** @typedef {import('./types.js').View} View */

/**
 * @typedef {object} Shown
 * @property {View} view
 * @property {number} number counts the views
 */

/** Hands views to the root component, and says when they are on the screen. */
export class Screen {
  #number = 0;
  /** @type {((next: Shown) => void) | null} */
  #set = null;
  /** @type {View | null} what `replace` was given before the root component was on the screen */
  #early = null;
  /** @type {Map<number, { committed: () => void, held: () => void }>} */
  #waiting = new Map();
  /** The view that React works out at the moment; 0 for none. */
  #begun = 0;
  /** @type {View | null} what was committed last */
  view = null;

  /**
   * Show a view. Resolves when it, or a later one, is on the screen.
   *
   * While an asynchronous transition of the page runs, such as the `action` of a form, React
   * holds all transitions back until its end. Who waits there for this promise would wait for
   * itself, so `held` is called then.
   *
   * @param {View} view
   * @param {() => void} [held]
   * @returns {Promise<void>}
   */
  show(view, held = () => {}) {
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#waiting.set(number, { committed: resolve, held });
      startTransition(() => this.#set?.({ view, number }));
    });
  }

  /**
   * The reducer of the root component. React throws right behind it for what it holds back, so
   * that the component does not come to `proceed`.
   *
   * @param {Shown} _before
   * @param {Shown} next
   */
  begin = (_before, next) => {
    this.#begun = next.number;
    queueMicrotask(() => {
      if (this.#begun === next.number) this.#waiting.get(next.number)?.held();
    });
    return next;
  };

  /** The root component renders what `begin` has returned. */
  proceed() {
    this.#begun = 0;
  }

  /**
   * Show a view with the update that is under way, as it is: the same page with other data.
   *
   * @param {View} view
   */
  replace(view) {
    if (this.#set === null) {
      this.#early = view;
      return;
    }
    this.#number += 1;
    this.#set({ view, number: this.#number });
  }

  /**
   * @param {(next: Shown) => void} set
   * @returns {() => void} ends it
   */
  attach(set) {
    this.#set = set;
    const early = this.#early;
    this.#early = null;
    if (early !== null) this.replace(early);
    return () => {
      this.#set = null;
    };
  }

  /**
   * @param {View} view that is on the screen
   * @param {number} number its number
   */
  committed(view, number) {
    if (this.view !== null && this.view.state !== view.state) {
      stopValues(this.view.state, view.state);
    }
    this.view = view;
    for (const [waiting, { committed }] of this.#waiting) {
      if (waiting > number) continue;
      this.#waiting.delete(waiting);
      committed();
    }
  }
}

/**
 * @param {{ runtime: import('./runtime.js').Runtime, initial: View }} props
 */
export function App({ runtime, initial }) {
  const { screen, head, base, nonce, modules } = runtime;
  const [{ view, number }, setView] = useReducer(screen.begin, { view: initial, number: 0 });
  screen.proceed();
  const { state, parts } = view;
  useEffect(() => screen.attach(setView), [screen]);
  useLayoutEffect(() => {
    modules.keepStyles(state.page);
    head.show(state.head, state.page.lang);
    runtime.auth?.show(state.user);
    screen.committed(view, number);
  }, [runtime, screen, head, modules, view, state, number]);
  const route = useMemo(
    () => ({ state, parts, base, nonce, head, inserted: null, runtime }),
    [state, parts, base, nonce, head, runtime],
  );
  return createElement(
    LastResort,
    { state },
    createElement(RouteContext, { value: route }, createTree(state, parts)),
  );
}

/**
 * Shown when no `error.fxl` stands around what has thrown.
 *
 * @extends {Component<
 *   { state: object, children?: import('react').ReactNode },
 *   { thrown: { error: unknown } | null, state: object }
 * >}
 */
class LastResort extends Component {
  state = { thrown: /** @type {{ error: unknown } | null} */ (null), state: this.props.state };

  /** @param {unknown} error */
  static getDerivedStateFromError(error) {
    return { thrown: { error } };
  }

  /**
   * @param {{ state: object }} props
   * @param {{ state: object }} state
   */
  static getDerivedStateFromProps(props, state) {
    return props.state === state.state ? null : { state: props.state, thrown: null };
  }

  /** @returns {import('react').ReactNode} */
  render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    const details =
      process.env.NODE_ENV === 'production'
        ? null
        : createElement('pre', { style: { overflowX: 'auto' } }, stackOf(thrown));
    return createElement(
      'main',
      { role: 'alert' },
      createElement('h1', null, translated('Something went wrong')),
      createElement('p', null, translated('Reload the page to try again.')),
      details,
    );
  }
}

/** @param {{ error: unknown }} thrown */
function stackOf({ error }) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
