/**
 * What gives elements the path that their app is served below. An app at the root does not load
 * it.
 */

/**
 * @typedef {object} Based
 * @property {((type: any, props: any) => any) | null} props of an element that is created
 * @property {((tag: string, attributes: Record<string, string>) => Record<string, string>) | null} attributes
 *   of an element of the head
 */

/** @type {Based} */
export const BASED = { props: null, attributes: null };

/**
 * Let all elements that are created from now on have the base. Called once, before the code of
 * pages runs.
 *
 * @param {string} base
 * @param {() => Promise<Pick<typeof import('./elements.js'), 'below'>>} load
 */
export async function loadBase(base, load) {
  if (base !== '') Object.assign(BASED, (await load()).below(base));
}

/**
 * Return a function of `react/jsx-runtime` that creates elements with the base.
 *
 * @template {(type: any, props: any, ...others: any[]) => any} Create
 * @param {Create} create
 * @returns {Create}
 */
export function creating(create) {
  return /** @type {Create} */ (
    (type, props, ...others) =>
      create(type, BASED.props === null ? props : BASED.props(type, props), ...others)
  );
}
