/** URLs of an app that may be mounted below a base path. Pure. */

/**
 * Return the path of a URL path with query and hash.
 *
 * @param {string} url
 */
export function pathOf(url) {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/**
 * Return the query of a URL, without the question mark.
 *
 * @param {string} url
 */
export function queryOf(url) {
  const withoutHash = url.split('#', 1)[0];
  const start = withoutHash.indexOf('?');
  return start === -1 ? '' : withoutHash.slice(start + 1);
}

/**
 * Put the base in front of a path of the app. Anything else, and what has it, stays.
 *
 * @param {string} href
 * @param {string} base
 */
export function withBase(href, base) {
  if (base === '' || !href.startsWith('/') || href.startsWith('//')) return href;
  return isBelow(pathOf(href), base) ? href : `${base}${href}`;
}

/**
 * Return a path as the app's page files see it.
 *
 * @param {string} path
 * @param {string} base
 */
export function withoutBase(path, base) {
  if (base === '' || !isBelow(path, base)) return path;
  return path.slice(base.length) || '/';
}

/**
 * Whether two URLs name the same page, whatever their queries.
 *
 * @param {string} one
 * @param {string} other
 * @param {string} base
 */
export function isSamePath(one, other, base) {
  return withoutBase(pathOf(one), base) === withoutBase(pathOf(other), base);
}

/**
 * @param {string} path
 * @param {string} base
 */
function isBelow(path, base) {
  return base === '' || path === base || path.startsWith(`${base}/`);
}

/**
 * Return the path of a page as URLs of actions have it.
 *
 * @param {string} path without the base
 */
export function actionPage(path) {
  let start = 0;
  let end = path.length;
  while (path[start] === '/') start += 1;
  while (end > start && path[end - 1] === '/') end -= 1; // an expression would try each slash
  return path.slice(start, end) || 'index';
}

/**
 * Return path and query of a URL as pages know them: hosts of files add a slash to the path.
 *
 * @param {{ pathname: string, search: string }} url
 */
export function pagePath({ pathname, search }) {
  const path = pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  return `${path}${search}`;
}

/**
 * Return what a payload is kept by: path and query.
 *
 * @param {URL} url
 */
export function keyOf(url) {
  return `${url.pathname}${url.search}`;
}

/**
 * Return where a form that is sent by GET leads to: the fields take the place of the query.
 *
 * @param {string} action
 * @param {Iterable<[string, FormDataEntryValue]>} fields a file stands for its name
 */
export function searchUrl(action, fields) {
  const query = new URLSearchParams(
    Array.from(fields, ([name, value]) => [name, typeof value === 'string' ? value : value.name]),
  );
  const hash = action.includes('#') ? action.slice(action.indexOf('#')) : '';
  return `${pathOf(action)}?${query}${hash}`;
}

/**
 * @param {string} href
 * @param {URL} here
 * @returns {URL | null} null when it is no URL
 */
export function parseUrl(href, here) {
  try {
    return new URL(href, here);
  } catch {
    return null;
  }
}

/**
 * Whether a redirect leads to a page of the web, and to no script.
 *
 * @param {string} href
 * @param {URL} here
 */
export function isWebUrl(href, here) {
  const protocol = parseUrl(href, here)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}

/**
 * Return the URL of a page of the app; null for one that the router does not show.
 *
 * @param {string} href
 * @param {URL} here
 * @param {string} base
 * @returns {URL | null}
 */
export function pageUrl(href, here, base) {
  const url = parseUrl(withBase(href, base), here);
  return url?.origin === here.origin && isBelow(url.pathname, base) ? url : null;
}
