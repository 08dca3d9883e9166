/** `Link`: an `<a>` that the router follows, and that may load its target beforehand. */

import { createElement, useCallback, useEffect, useRef } from 'react';

import { useRoute } from '../contexts.js';
import { isSamePath, withBase } from './urls.js';

/** How long a pointer rests on a link before it counts as interest (ms). */
const HOVER_MS = 50;

/**
 * @typedef {Omit<import('react').ComponentProps<'a'>, 'href'> & {
 *   href: string,
 *   prefetch?: 'hover' | 'viewport' | boolean,
 *   replace?: boolean,
 *   scroll?: boolean,
 * }} LinkProps
 */

/**
 * A link to a page of the app; any other URL works as in a plain `<a>`.
 *
 * `prefetch` says when the target's data and code are loaded: when the pointer or the focus
 * comes to it (`"hover"` or `true`), when it is visible, or not before the click (`false`).
 *
 * @param {LinkProps} props
 */
export function Link({ href, prefetch = 'hover', replace, scroll, ...rest }) {
  const { base, state, runtime } = useRoute('Link');
  const target = withBase(href, base);
  const current = isSamePath(target, state.requestedPath, base) && !/[?#]/.test(href);
  const anchor = { 'aria-current': current ? /** @type {const} */ ('page') : undefined, ...rest };
  if (runtime === null || runtime.isIsland) {
    const isPage = rest.download === undefined && rest.target === undefined && !current;
    const isWanted = state.page.scripts === false && prefetch !== false && isPage;
    const mark = isWanted && isOfPages(target, base) ? { 'data-fx-prefetch': '' } : null;
    return createElement('a', { ...anchor, ...mark, href: target });
  }
  const { router } = runtime;
  const when = prefetch === true ? 'hover' : prefetch;
  return createElement(LiveLink, { anchor, target, prefetch: when, replace, scroll, router });
}

/**
 * @param {object} props
 * @param {import('react').ComponentProps<'a'>} props.anchor
 * @param {string} props.target
 * @param {'hover' | 'viewport' | false} props.prefetch
 * @param {boolean} [props.replace]
 * @param {boolean} [props.scroll]
 * @param {import('./lazy-router.js').LazyRouter} props.router
 */
function LiveLink({ anchor, target, prefetch, replace, scroll, router }) {
  const element = useRef(/** @type {HTMLAnchorElement | null} */ (null));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const load = useCallback(() => {
    if (mayPrefetch()) void router.prefetch(target);
  }, [router, target]);
  const setElement = useCallback(
    (/** @type {HTMLAnchorElement | null} */ node) => {
      element.current = node;
      return assign(anchor.ref, node);
    },
    [anchor.ref],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(
    () => (prefetch === 'viewport' ? whenVisible(element.current, load) : undefined),
    [prefetch, load],
  );
  const interest = {
    onPointerEnter: () => {
      timer.current = setTimeout(load, HOVER_MS);
    },
    onPointerLeave: () => clearTimeout(timer.current),
    onFocus: load,
    onTouchStart: load,
  };
  return createElement('a', {
    ...anchor,
    ...(prefetch === 'hover' ? both(interest, anchor) : null),
    href: target,
    ref: setElement,
    onClick: (/** @type {import('react').MouseEvent<HTMLAnchorElement>} */ event) => {
      anchor.onClick?.(event);
      if (!isPlainClick(event) || router.resolve(target) === null) return;
      event.preventDefault();
      clearTimeout(timer.current); // the navigation asks for the page itself
      void router.navigate(target, { replace, scroll });
    },
  });
}

/**
 * Whether a click on a link means that its page should be shown here.
 *
 * @param {import('react').MouseEvent<HTMLAnchorElement>} event
 */
function isPlainClick(event) {
  const link = event.currentTarget;
  return (
    !event.defaultPrevented &&
    event.button === 0 &&
    !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) &&
    (link.target === '' || link.target === '_self') &&
    !link.hasAttribute('download')
  );
}

/**
 * Whether a link of a page without scripts may be loaded by the browser beforehand: endpoints may do
 * more than respond.
 *
 * @param {string} target
 * @param {string} base
 */
function isOfPages(target, base) {
  const isLocal = /^\/(?!\/)/.test(target);
  return isLocal && !/\/api(?:[/?#]|$)/.test(target.slice(base.length));
}

/** Whether the visitor has not asked to save data. */
function mayPrefetch() {
  return /** @type {any} */ (navigator).connection?.saveData !== true;
}

/**
 * Call `found` once, when `element` has come into view.
 *
 * @param {Element | null} element
 * @param {() => void} found
 * @returns {(() => void) | undefined} ends it
 */
function whenVisible(element, found) {
  if (element === null || typeof IntersectionObserver === 'undefined') return undefined;
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    found();
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Return handlers that call those of the app too.
 *
 * @param {Record<string, (event: any) => void>} own
 * @param {any} others of the app
 */
function both(own, others) {
  return Object.fromEntries(
    Object.entries(own).map(([name, handler]) => [
      name,
      (/** @type {unknown} */ event) => {
        others[name]?.(event);
        handler(event);
      },
    ]),
  );
}

/**
 * @param {import('react').Ref<HTMLAnchorElement> | undefined} ref
 * @param {HTMLAnchorElement | null} node
 */
function assign(ref, node) {
  if (typeof ref === 'function') return ref(node);
  if (ref) ref.current = node;
  return undefined;
}
