/** One request for a navigation payload: a URL in, what it came to out. */

/** @typedef {import('./types.js').Visit} Visit */

/**
 * Ask the server for a page's payload.
 *
 * A response that is no payload of this build, or of another site, means that the browser must
 * load the document.
 *
 * @param {URL} url
 * @param {object} options
 * @param {typeof globalThis.fetch} options.fetch
 * @param {string} options.build id of the build that runs
 * @param {AbortSignal} [options.signal]
 * @param {boolean} [options.fresh] past every cache
 * @returns {Promise<Visit>}
 * @throws {TypeError} when the server cannot be reached
 */
export async function requestVisit(url, { fetch, build, signal, fresh = false }) {
  // The whole URL: a path that begins with two slashes would be another host.
  const response = await fetch(`${url.origin}${url.pathname}${url.search}`, {
    headers: { 'x-fx-navigation': '1', accept: 'application/json' },
    cache: fresh ? 'reload' : 'default',
    signal,
  });
  if (response.redirected && new URL(response.url).origin !== url.origin) {
    return { kind: 'document' }; // what another site sends is no payload: it names code to run
  }
  const served = response.headers.get('x-fx-build');
  const type = response.headers.get('content-type') ?? '';
  if ((served !== null && served !== build) || !/^application\/json\b/i.test(type)) {
    return { kind: 'document' };
  }
  let body;
  try {
    body = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    return { kind: 'document' };
  }
  if (typeof body?.redirect === 'string') return { kind: 'redirect', url: body.redirect };
  if (!body?.page?.module) return { kind: 'document' };
  if (body.page.build !== build) return { kind: 'document' };
  return { kind: 'view', state: body, url: response.redirected ? response.url : url.href };
}
