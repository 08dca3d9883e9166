/** What has changed on the server: kept payloads of it are forgotten, and shown data loads anew. */

import { keyOf } from './urls.js';

/** What `revalidate(tag=…)` sends begins with it. */
const TAG = 'tag:';

/**
 * Forget what is kept for a URL: without a query for all of its queries; for a tag, of all pages
 * whose loaders have set it; without either all. Components that show such data with `useLoader`
 * get it anew.
 *
 * @param {Pick<import('../runtime.js').Runtime, 'router' | 'payloads' | 'loads'>} runtime
 * @param {string} [href] a URL, or a tag as the server names it
 */
export function invalidate({ router, payloads, loads }, href) {
  if (href === undefined) {
    payloads.invalidate();
    void loads?.refresh();
  } else if (href.startsWith(TAG)) {
    const tag = decodeURIComponent(href.slice(TAG.length));
    payloads.invalidateTag(tag);
    void loads?.refresh((_, state) => state?.tags?.includes(tag) ?? false);
  } else {
    const url = router.resolve(href);
    if (url === null) return;
    payloads.invalidate(url);
    void loads?.refresh(
      (other) =>
        other.pathname === url.pathname && (url.search === '' || keyOf(other) === keyOf(url)),
    );
  }
}
