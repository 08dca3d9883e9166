/** What to do about errors of renders whose own messages do not say it. Pure. */

'use strict';

const BROWSER_ONLY =
  /^(window|document|localStorage|sessionStorage|location|history|matchMedia|screen|alert) is not defined$/;

/** What Node says of all that its permissions refuse. */
const RESTRICTED = /^Access to this API has been restricted/;

/** What Node says of `import()` in code that a script has made of a text. */
const NO_IMPORT = /^A dynamic import callback was not specified/;

const NOTHING = /^Cannot (read properties of|destructure) |is not iterable$/;

/** As React says it, and as the argument of an address in production. */
const OBJECT_CHILD = /(?:found: |\[\]=)object with keys \{([^}]*)\}/;

const MOST_LOOKED_AT = 10_000; // values of a state

/**
 * Return what to do about an error, with a full stop; "" when its message must do.
 *
 * @param {string} name of the error's class
 * @param {string} message
 * @param {any} [state] what was rendered
 */
function remedyFor(name, message, state) {
  if (name === 'ReferenceError' && BROWSER_ONLY.test(message)) {
    return 'It exists only in browsers: use it in an effect, or in a function in <ClientOnly>.';
  }
  if (RESTRICTED.test(message)) {
    return 'Client code cannot use files, processes or threads while it renders: return the data from the loader.';
  }
  if (NO_IMPORT.test(message)) {
    return 'Code of eval() and new Function() cannot import: write the import() in a module of the app.';
  }
  if (name === 'TypeError' && NOTHING.test(message) && isEnvelope(state?.props?.data)) {
    return "The page's data is {data, revalidate}: return the inner data, and write CACHE = {'revalidate': …}.";
  }
  const keys = OBJECT_CHILD.exec(decoded(message))?.[1];
  if (keys === undefined) return '';
  const place = placeOf(keys, state?.props);
  const example = `${place ?? '…'}.${keys.split(', ')[0]}`;
  const which = place === undefined ? '' : `It is like '${place}'. `;
  return `${which}Show a value of it, such as {${example}}.`;
}

/**
 * Whether a loader has returned what Pyxle takes for the data and the time to cache it.
 *
 * @param {any} data
 */
function isEnvelope(data) {
  return (
    Object.keys(data ?? {})
      .sort()
      .join() === 'data,revalidate'
  );
}

/** @param {string} message */
function decoded(message) {
  try {
    return decodeURIComponent(message);
  } catch {
    return message; // with a % of its own
  }
}

/**
 * Return the path of the first object that has just these keys, the nearest to the top.
 *
 * @param {string} keys with commas between them
 * @param {any} props
 * @returns {string | undefined}
 */
function placeOf(keys, props) {
  /** @type {[string, any][]} */
  const waiting = [
    ['data', props?.data],
    ['layoutData', props?.layoutData],
  ];
  for (const [path, value] of waiting) {
    if (value === null || typeof value !== 'object') continue;
    const isArray = Array.isArray(value);
    if (!isArray && Object.keys(value).join(', ') === keys) return path;
    if (waiting.length > MOST_LOOKED_AT) continue;
    for (const [key, inner] of Object.entries(value)) {
      waiting.push([isArray ? `${path}[${key}]` : `${path}.${key}`, inner]);
    }
  }
  return undefined;
}

exports.remedyFor = remedyFor;
