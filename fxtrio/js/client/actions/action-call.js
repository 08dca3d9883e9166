/** One call of a server action: name and payload in, result out. Never throws. */

import { readEvents } from '../live/event-stream.js';
import { Reading } from './reading.js';
import { translated } from '../view/messages.js';
import { actionPage, pathOf, queryOf, withoutBase } from '../navigation/urls.js';

/**
 * What an action answered. `ok: true` comes with the keys of the returned dict, and for an action
 * that streams with `data`, what its values came to; `fields` is always there. A call that was
 * `stopped` is not ok, and has no error.
 *
 * @typedef {{
 *   ok: boolean,
 *   error?: string,
 *   fields: Record<string, string[]>,
 *   data?: any,
 *   redirect?: string,
 *   stopped?: boolean,
 *   [key: string]: any,
 * }} ActionResult
 */

const CSRF_COOKIES = ['__Host-fx-csrf', 'fx-csrf'];
const UNREACHABLE = 'The server could not be reached.';
const LOST = 'The connection was lost.';

/**
 * Return the URL of an action. It has the query of its page, so that the page a form leads back
 * to is the same one, and the action sees it. One of a module, such as `shared.delete`, has no
 * page.
 *
 * @param {object} options
 * @param {string} options.base
 * @param {string} options.page URL of the page that defines it, with or without the base
 * @param {string} options.name
 */
export function actionUrl({ base, page, name }) {
  if (name.includes('.')) return `${base}/api/__actions/${encodeURIComponent(name)}`;
  const path = actionPage(withoutBase(pathOf(page), base));
  const query = queryOf(page);
  const url = `${base}/api/__actions/${path}/${encodeURIComponent(name)}`;
  return query === '' ? url : `${url}?${query}`;
}

/**
 * Return the token that proves that a request comes from the app's own pages.
 *
 * @param {string} cookies `document.cookie`
 * @returns {string | null}
 */
export function csrfToken(cookies) {
  const pairs = cookies.split(/;\s*/).map((pair) => pair.split('='));
  for (const name of CSRF_COOKIES) {
    const found = pairs.find(([key]) => key === name);
    if (found !== undefined) return found.slice(1).join('=');
  }
  return null;
}

/**
 * Call an action. When the token is not, or no longer, one of this session (somebody has signed
 * in since), it is asked for and the action called once more.
 *
 * @param {object} options
 * @param {typeof globalThis.fetch} options.fetch
 * @param {string} options.url
 * @param {unknown} options.payload a form's data as it is, nothing as no body, else JSON
 * @param {string} options.cookies
 * @param {(url: string) => void} options.invalidate called for each URL the action names
 * @param {Reading} [options.reading] takes the values of an action that streams
 * @returns {Promise<ActionResult>}
 */
export async function callAction({
  fetch,
  url,
  payload,
  cookies,
  invalidate,
  reading = new Reading(),
}) {
  const token = csrfToken(cookies);
  try {
    const first = await send({ fetch, url, payload, invalidate, token, reading });
    if (!first.forged) return first.result;
    const fresh = await freshToken(fetch, url);
    if (fresh === null || fresh === token) return first.result;
    return (await send({ fetch, url, payload, invalidate, token: fresh, reading })).result;
  } catch {
    if (reading.signal.aborted) return { ok: false, stopped: true, error: '', fields: {} };
    if (reading.streamed) return { ok: false, error: translated(LOST), fields: {} };
    return { ok: false, error: translated(UNREACHABLE), fields: {} };
  }
}

/**
 * @param {object} options
 * @param {typeof globalThis.fetch} options.fetch
 * @param {string} options.url
 * @param {unknown} options.payload
 * @param {string | null} options.token
 * @param {(url: string) => void} options.invalidate
 * @param {Reading} options.reading
 * @returns {Promise<{ result: ActionResult, forged: boolean }>} `forged`: the token was refused
 * @throws {TypeError} when the server cannot be reached
 */
async function send({ fetch, url, payload, token, invalidate, reading }) {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json, text/event-stream' };
  if (token !== null) headers['x-csrf-token'] = token;
  const body = encodeBody(payload, headers);
  const response = await fetch(url, { method: 'POST', headers, body, signal: reading.signal });
  for (const invalid of (response.headers.get('x-fx-invalidate') ?? '').split(', ')) {
    if (invalid !== '') invalidate(invalid);
  }
  if (/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    return { result: await readStream(response, invalidate, reading), forged: false };
  }
  const result = await readResult(response);
  return { result, forged: result.code === 'csrf_token' };
}

/**
 * Read what an action streams, to its end.
 *
 * @param {Response} response
 * @param {(url: string) => void} invalidate
 * @param {Reading} reading
 * @returns {Promise<ActionResult>}
 * @throws when the connection is lost or the call is stopped
 */
async function readStream(response, invalidate, reading) {
  reading.begin();
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
  const end = await readEvents(body, (values) => reading.take(values));
  if (end === null) throw new TypeError(LOST);
  const { invalidate: urls = [], ...result } = end;
  urls.forEach(invalidate);
  return result.ok ? { fields: {}, data: reading.data, ...result } : { fields: {}, ...result };
}

/**
 * @param {typeof globalThis.fetch} fetch
 * @param {string} url of an action or of an endpoint of the runtime
 * @returns {Promise<string | null>}
 */
async function freshToken(fetch, url) {
  const base = url.slice(0, url.indexOf('/api/__'));
  const response = await fetch(`${base}/api/__csrf`, { headers: { accept: 'application/json' } });
  const { token } = await response.json();
  return typeof token === 'string' ? token : null;
}

/**
 * @param {unknown} payload
 * @param {Record<string, string>} headers
 * @returns {BodyInit | undefined}
 */
function encodeBody(payload, headers) {
  if (payload === undefined) return undefined;
  if (payload instanceof FormData || payload instanceof URLSearchParams) return payload;
  headers['content-type'] = 'application/json';
  return JSON.stringify(payload);
}

/**
 * Read what an action answered; a response without `ok` succeeded when its status says so.
 *
 * @param {Response} response
 * @returns {Promise<ActionResult>}
 */
async function readResult(response) {
  let result;
  try {
    result = await response.json();
  } catch {
    result = null;
  }
  const keys = typeof result === 'object' && !Array.isArray(result) ? result : null;
  if (typeof keys?.ok === 'boolean') return { fields: {}, ...keys };
  // A response that the action made itself. One that redirects, such as to sign in, was not its.
  if (response.ok && !response.redirected) return { fields: {}, ...keys, ok: true };
  const error = translated(`The server responded with status ${response.status}.`);
  return { ok: false, error, fields: {} };
}
