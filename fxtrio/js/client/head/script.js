/** `Script`: a script that the page needs, and when it should run. */

import { createElement, useEffect } from 'react';

import { useRoute } from '../contexts.js';
import { Head } from './component.js';
import { useLatest } from '../latest.js';
import { Scripts } from './scripts.js';

/**
 * @typedef {object} ScriptProps
 * @property {string} [src]
 * @property {string} [id] tells inline scripts apart
 * @property {'beforeInteractive' | 'afterInteractive' | 'lazyOnload'} [strategy] in the
 *   document's head, after the page has come to life, or when the browser has nothing to do
 * @property {string} [children] the code of an inline script
 * @property {() => void} [onReady] it has run, now or before
 * @property {(error: Error) => void} [onError]
 * @property {Record<string, string>} [attributes] further attributes of the element
 */

/**
 * Run a script once in a document, however many components ask for it.
 *
 * @param {ScriptProps} props
 */
export function Script({ strategy = 'afterInteractive', ...props }) {
  const { runtime } = useRoute('Script');
  const { src, id, children = '', attributes } = props;
  if (strategy === 'beforeInteractive') {
    const element = createElement('script', { ...attributes, id, src, children });
    return createElement(Head, null, element);
  }
  if (runtime === null) return null;
  runtime.scripts ??= new Scripts(document, runtime.nonce); // islands have none before
  return createElement(LiveScript, { ...props, children, scripts: runtime.scripts, strategy });
}

/**
 * @param {ScriptProps & { scripts: import('./scripts.js').Scripts, children: string }} props
 */
function LiveScript({ src, id, strategy, children, onReady, onError, attributes, scripts }) {
  const key = src ?? id ?? children;
  const serialized = JSON.stringify({ ...attributes, ...(id && { id }), ...(src && { src }) });
  const ready = useLatest(onReady);
  const failed = useLatest(onError);
  useEffect(() => {
    const wanted = { current: true };
    const run = () => {
      if (!wanted.current) return;
      scripts.run(key, JSON.parse(serialized), children).then(
        () => wanted.current && ready(),
        (error) => wanted.current && failed(error),
      );
    };
    const cancel = strategy === 'lazyOnload' ? whenIdle(run) : run();
    return () => {
      wanted.current = false;
      cancel?.();
    };
  }, [key, serialized, children, strategy, scripts, ready, failed]);
  return null;
}

/**
 * Call `run` when the document is loaded and the browser idle.
 *
 * @param {() => void} run
 * @returns {() => void} gives it up
 */
function whenIdle(run) {
  const idle = { cancel: () => {} };
  const wait = () => {
    if (typeof requestIdleCallback === 'function') {
      const handle = requestIdleCallback(run);
      idle.cancel = () => cancelIdleCallback(handle);
    } else {
      const handle = setTimeout(run, 1); // Safari
      idle.cancel = () => clearTimeout(handle);
    }
  };
  if (document.readyState === 'complete') wait();
  else window.addEventListener('load', wait, { once: true });
  return () => {
    window.removeEventListener('load', wait);
    idle.cancel();
  };
}
