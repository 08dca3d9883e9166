/**
 * Return a page state as the server makes it.
 *
 * @param {{ layouts?: number, path?: string }} [options]
 * @returns {import('../client/types.js').State}
 */
export function makeState({ layouts = 0, path = '/' } = {}) {
  return {
    ok: true,
    statusCode: 200,
    routePath: '/',
    requestedPath: path,
    page: {
      id: 0,
      build: 'b1',
      module: '/_fx/page.js',
      layouts: Array.from({ length: layouts }, (_, index) => ({ module: `/_fx/l${index}.js` })),
    },
    params: {},
    props: { data: {}, layoutData: {} },
    layouts: Array.from({ length: layouts }, () => null),
    head: [],
    ttl: 0,
  };
}
