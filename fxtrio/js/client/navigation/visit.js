/** One request for a navigation payload: a URL in, what it came to out. */

import { isInLines, readLines } from './payload-lines.js';
import { isPage, isPayload, isWebUrl } from './payload.js';
import { bindPromises, stopValues } from '../view/promises.js';

/** @typedef {import('../types.js').Visit} Visit */

/**
 * Ask the server for a page's payload.
 *
 * What is no payload of this build, or names code that is not the build's, means that the browser
 * must load the document.
 *
 * @param {URL} url
 * @param {object} options
 * @param {typeof globalThis.fetch} options.fetch
 * @param {string} options.build id of the build that runs
 * @param {string} options.base URL path that the app is mounted at
 * @param {AbortSignal} [options.signal]
 * @param {boolean} [options.fresh] past every cache
 * @param {readonly string[]} [options.only] names of the values that are needed
 * @returns {Promise<Visit>}
 * @throws {TypeError} when the server cannot be reached
 */
export async function requestVisit(url, { fetch, build, base, signal, fresh = false, only }) {
  // The whole URL: a path that begins with two slashes would be another host.
  const response = await fetch(`${url.origin}${url.pathname}${url.search}`, {
    headers: {
      'x-fx-navigation': '1',
      accept: 'application/json',
      ...(only && { 'x-fx-only': only.map(encodeURIComponent).join() }),
    },
    cache: fresh ? 'reload' : 'default',
    signal,
  });
  if (!isPayload(response, url.origin)) return { kind: 'document' };
  let body;
  try {
    body = isInLines(response) ? await readLines(response) : await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    return { kind: 'document' };
  }
  if (typeof body?.redirect === 'string') {
    return isWebUrl(body.redirect, url)
      ? { kind: 'redirect', url: body.redirect }
      : { kind: 'document' };
  }
  if (!isPage(body, { build, base, here: url })) {
    stopValues(body);
    return { kind: 'document' };
  }
  bindPromises(body);
  return { kind: 'view', state: body, url: response.redirected ? response.url : url.href };
}
