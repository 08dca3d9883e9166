/** What `pages.mjs` becomes after an edit. */

export const pages = 1;
export const buildId = 'second';

export function render(page, state) {
  return { head: '', html: `<p>Good day, ${state.name}</p>` };
}
