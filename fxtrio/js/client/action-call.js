/** One call of a server action: name and payload in, result out. Never throws. */

import { actionPage, pathOf, withoutBase } from './urls.js';

/**
 * What an action answered. `ok: true` comes with the keys of the returned dict; `fields` is
 * always there.
 *
 * @typedef {{
 *   ok: boolean,
 *   error?: string,
 *   fields: Record<string, string[]>,
 *   data?: any,
 *   redirect?: string,
 *   [key: string]: any,
 * }} ActionResult
 */

const CSRF_COOKIES = ['__Host-fx-csrf', 'fx-csrf'];
const UNREACHABLE = 'The server could not be reached.';

/**
 * Return the URL of an action.
 *
 * @param {object} options
 * @param {string} options.base
 * @param {string} options.page path of the page that defines it, with or without the base
 * @param {string} options.name
 */
export function actionUrl({ base, page, name }) {
  const path = actionPage(withoutBase(pathOf(page), base));
  return `${base}/api/__actions/${path}/${encodeURIComponent(name)}`;
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
 * Call an action.
 *
 * @param {object} options
 * @param {typeof globalThis.fetch} options.fetch
 * @param {string} options.url
 * @param {unknown} options.payload a form's data as it is, nothing as no body, else JSON
 * @param {string} options.cookies
 * @param {(url: string) => void} options.invalidate called for each URL the action names
 * @returns {Promise<ActionResult>}
 */
export async function callAction({ fetch, url, payload, cookies, invalidate }) {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json' };
  const token = csrfToken(cookies);
  if (token !== null) headers['x-csrf-token'] = token;
  const body = encodeBody(payload, headers);
  let response;
  try {
    response = await fetch(url, { method: 'POST', headers, body });
  } catch {
    return { ok: false, error: UNREACHABLE, fields: {} };
  }
  for (const invalid of (response.headers.get('x-fx-invalidate') ?? '').split(', ')) {
    if (invalid !== '') invalidate(invalid);
  }
  return readResult(response);
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
  if (typeof result?.ok !== 'boolean') {
    const error = `The server answered with status ${response.status}.`;
    return { ok: false, error, fields: {} };
  }
  return result.fields === undefined ? { ...result, fields: {} } : result;
}
