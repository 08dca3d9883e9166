/**
 * The UI library as ECMAScript modules, for browsers: the bundler then leaves out what an app does
 * not use of it. The library itself has CommonJS alone, of which all is kept.
 */

import { isOfLibrary } from '../../worker/library.js';

/** A module that has the code of another one, which depends on the mode. */
const CHOICE = /module\.exports = require\('(\.\/cjs\/[\w.-]+\.production\.js)'\)/;

/** Its imports, at the start. */
const REQUIRES = /^var ((?:\w+ = require\("[\w./-]+"\),?\s*)+);$/m;
const REQUIRE = /\b(\w+) = require\(("[\w./-]+")\),?/g;

const EXPORT = /\bexports\.(\w+)/g;
const ASSIGNED = /\bexports\.(\w+) =(?!=)/g;
const ASSIGNED_ONCE = /^exports\.(\w+) =(?!=)/gm;

/**
 * What earlier versions of a package have, by its name. Packages that import it from CommonJS get
 * nothing, and need it only where they run with such a version; of an ECMAScript module it would be
 * an error.
 */
const FORMER = /** @type {const} */ ([
  ['react', 'createFactory, unstable_act, __SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED'],
  [
    'react-dom',
    'createRoot, findDOMNode, hydrate, hydrateRoot, render, unmountComponentAtNode, ' +
      'unstable_renderSubtreeIntoContainer, __SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED',
  ],
]);

/** What the bundler says of packages that ask whether the library has a function. */
export const ASKED = /IMPORT_IS_UNDEFINED[^]*\bnode_modules\/\S+:\d+:\d+/;

/** The renderer of streams in the library's module for servers, and what it exports of it. */
const STREAMS = /\bs = (require\('[^']+'\));/g;
const OF_STREAMS = /^exports\.(\w+) = s\.\1;/gm;

/** Begins the names of variables that are exported. */
const OWN = 'exports_';
const LEFT = /\b(?:require|exports|module)\b\s*[.([=]/;

/**
 * Return a CommonJS module of the library as an ECMAScript module, line by line the same; null when
 * it does anything else than to import at its start, and to export by name.
 *
 * @param {string} code
 * @returns {string | null}
 */
export function asModule(code) {
  const [, chosen] = CHOICE.exec(code) ?? [];
  if (chosen !== undefined) {
    const from = JSON.stringify(chosen);
    return `import * as all from ${from}; export * from ${from}; export default all;`;
  }
  const names = new Set(Array.from(code.matchAll(EXPORT), ([, name]) => name));
  if (names.size === 0 || code.includes(OWN)) return null;
  const constants = constantsOf(code);
  const variables = [...names].filter((name) => !constants.has(name));
  const declared = variables.length > 0 ? `let ${variables.map((name) => OWN + name)};` : '';
  const plain = code
    .replace(REQUIRES, (_, list) => list.replace(REQUIRE, imported))
    .replace(ASSIGNED_ONCE, (whole, name) => (constants.has(name) ? `const ${whole}` : whole))
    .replace(EXPORT, (_, name) => OWN + name);
  const exported = Array.from(names, (name) => `${OWN}${name} as ${name}`);
  return LEFT.test(plain) ? null : `${declared}${plain}\nexport { ${exported.join(', ')} };\n`;
}

/**
 * Return the exports that are assigned once, by a statement of the module itself.
 *
 * @param {string} code
 */
function constantsOf(code) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [, name] of code.matchAll(ASSIGNED)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const once = Array.from(code.matchAll(ASSIGNED_ONCE), ([, name]) => name);
  return new Set(once.filter((name) => counts.get(name) === 1));
}

/**
 * @param {string} _
 * @param {string} name
 * @param {string} from in quotes
 */
function imported(_, name, from) {
  return `import * as ${name} from ${from};`;
}

/**
 * Make modules of the library in a build for browsers. Those that are not understood stay as they
 * are.
 *
 * @returns {import('vite').Plugin}
 */
export function libraryModules() {
  return {
    name: 'fx:library-modules',
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    transform: {
      filter: { id: /\/node_modules\/.*\.js$/, code: /\b(?:module\.exports =|exports\.\w)/ },
      handler(code, id) {
        const made = isOfLibrary(id) ? asModule(code) : null;
        const [, former] = FORMER.find(([name]) => id.endsWith(`/${name}/index.js`)) ?? [];
        if (made === null) return null;
        return { code: former === undefined ? made : `${made} export let ${former};`, map: null };
      },
    },
  };
}

/**
 * Return the library's module for servers with one of its two renderers left until it is used: a
 * server that streams no page starts without it. Line by line the same; null when it has no two.
 *
 * @param {string} code
 * @returns {string | null}
 */
export function withLaterStreams(code) {
  const later = code
    .replace(STREAMS, 's = () => $1;')
    .replace(OF_STREAMS, "Object.defineProperty(exports, '$1', { get: () => s().$1 });");
  return later === code || /\bs\./.test(later) ? null : later;
}

/**
 * Load the renderer of streams at its first use in a build for servers.
 *
 * @returns {import('vite').Plugin}
 */
export function laterStreams() {
  return {
    name: 'fx:later-streams',
    applyToEnvironment: ({ config }) => config.consumer === 'server',
    transform: {
      filter: { id: /\/node_modules\/react-dom\/server\.node\.js$/ },
      handler(code) {
        const made = withLaterStreams(code);
        return made === null ? null : { code: made, map: null };
      },
    },
  };
}
