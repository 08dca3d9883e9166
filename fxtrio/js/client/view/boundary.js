/** Error boundaries: the app's `error.fxl` for what a component throws in the browser. */

import { Component, createElement, Suspense, use } from 'react';

import { DeferredError } from './promises.js';
import { DataContext, LevelContext, useRoute } from '../contexts.js';

/** @typedef {import('../types.js').StandIn} StandIn */
/** @typedef {import('../types.js').State} State */
/** @typedef {import('react').ReactNode} ReactNode */

/** @type {import('../types.js').Json} */
const NOTHING = Object.freeze({});

/**
 * Shows its children; in their place an error page when one of them throws. Another page, or
 * the error page's `reset`, brings them back.
 *
 * @extends {Component<
 *   { boundary: StandIn, state: State, children?: ReactNode },
 *   { thrown: { error: unknown } | null, state: State }
 * >}
 */
export class PageBoundary extends Component {
  state = {
    thrown: /** @type {{ error: unknown } | null} */ (null),
    state: this.props.state,
  };

  /** @param {unknown} error */
  static getDerivedStateFromError(error) {
    return { thrown: { error } };
  }

  /**
   * @param {{ state: State }} props
   * @param {{ state: State }} state
   */
  static getDerivedStateFromProps(props, state) {
    return props.state === state.state ? null : { state: props.state, thrown: null };
  }

  reset = () => this.setState({ thrown: null });

  /** @returns {ReactNode} */
  render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    const { boundary, state } = this.props;
    return createElement(
      LevelContext,
      { value: boundary.depth },
      createElement(
        Suspense,
        { fallback: null },
        createElement(ErrorPage, { boundary, state, error: thrown.error, reset: this.reset }),
      ),
    );
  }
}

/**
 * @param {{ boundary: StandIn, state: State, error: unknown, reset: () => void }} props
 * @returns {ReactNode}
 */
function ErrorPage({ boundary, state, error, reset }) {
  const { runtime } = useRoute('error page');
  if (runtime === null) throw error; // on the server another view is rendered in its place
  const module = use(runtime.modules.standIn(boundary));
  const { layoutData } = state.props;
  const page = createElement(module.default, {
    data: NOTHING,
    layoutData,
    params: state.params,
    error: describe(error),
    reset,
  });
  return createElement(DataContext, { value: { data: NOTHING, layoutData } }, page);
}

/**
 * Return what an error page is told of something that was thrown.
 *
 * @param {unknown} error
 * @returns {import('../types.js').PageError}
 */
export function describe(error) {
  if (error instanceof DeferredError) return error.pageError;
  const thrown = error instanceof Error ? error : new Error(String(error));
  return { message: thrown.message, statusCode: 500, type: thrown.name, data: {}, requestId: '' };
}
