/**
 * A response to a navigation in, the payload out: what is checked before the code that it names
 * is run. Pure; cases in tests/wire/payloads.json.
 */

import { HEAD_TAGS } from '../../head/tags.js';
import { isScript } from '../../head/script-urls.js';
import { parseUrl } from '../urls.js';

/** @typedef {import('../../types.js').State} State */
/** @typedef {import('../../types.js').HeadNode} HeadNode */

/** What only the runtime sends: it takes this type from everything else that an app answers. */
export const PAYLOAD = 'application/vnd.fx.page+json';

/** The type of a payload whose deferred values follow, each in a line of its own. */
export const PAYLOAD_LINES = `${PAYLOAD}-lines`;

/** The file with the payload of a page of an exported site, in the folder of the page. */
export const PAYLOAD_FILE = '__fx.json';

const NAME = /^[a-z_][a-z0-9_.:-]*$/i;

/**
 * Whether a response has the type of payloads, and comes from the origin that was asked.
 *
 * @param {Response} response
 * @param {string} origin
 */
export function isPayload(response, origin) {
  if (response.redirected && new URL(response.url).origin !== origin) return false;
  const type = response.headers.get('content-type');
  return type === PAYLOAD || type === PAYLOAD_LINES;
}

/**
 * Whether a response may be the file of a payload. Its name is reserved, so that nobody else's JSON
 * is taken for it.
 *
 * @param {Response} response
 * @param {string} origin
 */
export function isPayloadFile(response, origin) {
  if (!response.ok || new URL(response.url || origin).origin !== origin) return false;
  return (response.headers.get('content-type') ?? '').startsWith('application/json');
}

/**
 * Whether a payload shows a page of the build that runs, with code of its own assets alone.
 *
 * @param {any} body
 * @param {{ build: string, base: string, here: URL }} app
 * @returns {body is State}
 */
export function isPage(body, { build, base, here }) {
  const page = body?.page;
  if (typeof page?.module !== 'string' || page.build !== build) return false;
  const inner = [page, ...(page.layouts ?? []), page.loading ?? [], page.boundaries ?? []].flat();
  const urls = inner.flatMap(({ module, css, preload }) =>
    [module, css ?? [], preload ?? []].flat(),
  );
  return urls.every((url) => isAsset(url, base, here)) && isHead(body.head);
}

/**
 * @param {unknown} url
 * @param {string} base
 * @param {URL} here
 */
function isAsset(url, base, here) {
  const folder = `${base}/_fx/`;
  if (typeof url !== 'string' || !url.startsWith(folder)) return false;
  const found = parseUrl(url, here);
  return found !== null && found.origin === here.origin && found.pathname.startsWith(folder);
}

/**
 * Whether a payload's head holds what `HEAD` may hold.
 *
 * @param {unknown} levels
 */
function isHead(levels) {
  return (
    Array.isArray(levels) && levels.every((nodes) => Array.isArray(nodes) && nodes.every(isNode))
  );
}

/** @param {unknown} node */
function isNode(node) {
  if (!Array.isArray(node) || node.length !== 3) return false;
  const [tag, attributes, text] = node;
  if (!HEAD_TAGS.has(tag) || typeof text !== 'string' || attributes === null) return false;
  return Object.entries(attributes).every(
    ([name, value]) =>
      typeof value === 'string' &&
      NAME.test(name) &&
      !/^on/i.test(name) &&
      !isScript(name, value, 'http-equiv' in attributes),
  );
}
