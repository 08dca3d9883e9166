/** One request for a navigation payload: a URL in, what it came to out. */

import { isInLines, readLines } from './payload-lines.js';
import { isPage, isPayload, isPayloadFile, PAYLOAD_FILE } from './payload.js';
import { isWebUrl, pagePath, pathOf } from '../urls.js';
import { bindPromises, stopValues } from '../../view/promises.js';

/** @typedef {import('../../types.js').Visit} Visit */

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
 * @param {boolean} [options.exported] whether payloads are files
 * @param {AbortSignal} [options.signal]
 * @param {boolean} [options.fresh] past every cache
 * @param {readonly string[]} [options.only] names of the values that are needed
 * @returns {Promise<Visit>}
 * @throws {TypeError} when the server cannot be reached
 */
export async function requestVisit(
  url,
  { fetch, build, base, exported = false, signal, fresh = false, only },
) {
  /** @type {RequestInit} */
  const options = { cache: fresh ? 'reload' : 'default', signal };
  if (exported) {
    const response = await fetch(payloadFile(url), options);
    if (!isPayloadFile(response, url.origin)) return { kind: 'document' };
    const visit = await readVisit(response, url, { build, base, signal });
    if (visit.kind !== 'view') return visit;
    // The file is the same for all queries, and the host may have redirected to it.
    return { ...visit, state: { ...visit.state, requestedPath: pagePath(url) }, url: url.href };
  }
  // The whole URL: a path that begins with two slashes would be another host.
  const response = await fetch(`${url.origin}${url.pathname}${url.search}`, {
    headers: {
      'x-fx-navigation': '1',
      accept: 'application/json',
      ...(only && { 'x-fx-only': only.map(encodeURIComponent).join() }),
    },
    ...options,
  });
  if (!isPayload(response, url.origin)) return { kind: 'document' };
  return readVisit(response, url, { build, base, signal });
}

/**
 * Return the file that has the payload of a page.
 *
 * @param {URL} url
 */
function payloadFile(url) {
  const path = pathOf(pagePath(url));
  return `${url.origin}${path === '/' ? '' : path}/${PAYLOAD_FILE}`;
}

/**
 * @param {Response} response
 * @param {URL} url
 * @param {{ build: string, base: string, signal?: AbortSignal }} app
 * @returns {Promise<Visit>}
 */
async function readVisit(response, url, { build, base, signal }) {
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
