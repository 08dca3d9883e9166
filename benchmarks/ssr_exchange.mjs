/** The bundle of `ssr_exchange.py`: a page as small as a page can be, so that the exchange counts. */

export const pages = 1;
export const buildId = 'benchmark';

export function render(page, state) {
  const { message } = state.props.data;
  return { head: '', html: `<main><h1>Site</h1><p>${message}</p></main>` };
}
