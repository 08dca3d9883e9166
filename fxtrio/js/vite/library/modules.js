/**
 * The UI library as ECMAScript modules, for browsers: the bundler then leaves out what an app does
 * not use of it. The library itself has CommonJS alone, of which all is kept.
 */

import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { isOfLibrary } from '../../worker/library.js';
import { MENTIONED, NAMES, onlyReads } from './uses.js';

/** A module that has the code of another one, which depends on the mode. */
const CHOICE = /module\.exports = require\('(\.\/cjs\/[\w.-]+\.production\.js)'\)/;

/** Its imports, at the start. */
const REQUIRES = /^var ((?:\w+ = require\("[\w./-]+"\),?\s*)+);$/m;
const REQUIRE = /\b(\w+) = require\(("[\w./-]+")\),?/g;

const EXPORT = /\bexports\.(\w+)/g;
const ASSIGNED = /\bexports\.(\w+) =(?!=)/g;
const ASSIGNED_ONCE = /^exports\.(\w+) =(?!=)/gm;

/** What the bundler says of packages that ask whether the library has a function. */
export const FEATURE_TEST = new RegExp(
  `IMPORT_IS_UNDEFINED[^]*\\bnode_modules/(${NAMES})/[^]*\\bnode_modules/\\S+:\\d+:\\d+`,
);

/** The renderer of streams in the library's module for servers, and what it exports of it. */
const STREAMS = /\bs = (require\('[^']+'\));/g;
const OF_STREAMS = /^exports\.(\w+) = s\.\1;/gm;

/** The code of fxtrio that runs in browsers: it only reads. */
const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));

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
 * Return what a module of the library exports; null when it stays CommonJS, which has any name.
 *
 * @param {string} id path of its file
 * @returns {Promise<Set<string> | null>}
 */
async function exportsOf(id) {
  const code = await fs.readFile(id, 'utf8');
  const [, chosen] = CHOICE.exec(code) ?? [];
  if (chosen !== undefined) return exportsOf(path.join(path.dirname(id), chosen));
  return asModule(code) === null
    ? null
    : new Set(Array.from(code.matchAll(EXPORT), ([, name]) => name));
}

/**
 * Make modules of the library in a build for browsers. Those that are not understood stay as they
 * are, and all do in a build with a module that would notice: `build` is then called again.
 *
 * @returns {{ plugin: import('vite').Plugin, building: <T>(build: (isAgain: boolean) => Promise<T>) => Promise<T> }}
 */
export function libraryModules() {
  let isNoticed = false;
  /** @type {import('vite').Plugin} */
  const plugin = {
    name: 'fx:library-modules',
    enforce: 'post',
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    transform: {
      filter: {
        moduleType: ['js', 'jsx', 'ts', 'tsx'],
        code: [/\b(?:module\.exports =|exports\.\w)/, MENTIONED],
      },
      async handler(code, id, meta) {
        if (isNoticed) return null;
        if (isOfLibrary(id)) {
          const changed = /\.js$/.test(id) ? asModule(code) : null;
          return changed === null ? null : { code: changed, map: null };
        }
        if (id.startsWith(CLIENT) || !MENTIONED.test(code)) return null;
        let program;
        try {
          program = this.parse(code, { lang: /** @type {'js'} */ (meta?.moduleType) });
        } catch {
          return null; // which the bundler reports
        }
        const isOfPackage = id.includes('/node_modules/');
        const isSame = await onlyReads(program, async (specifier) => {
          const found = isOfPackage ? await this.resolve(specifier, id) : null;
          return found !== null && isOfLibrary(found.id) ? exportsOf(found.id) : null;
        });
        if (isSame) return null;
        isNoticed = true;
        throw new Error(`${id} needs the library as it is published.`);
      },
    },
  };
  return {
    plugin,
    async building(build) {
      try {
        return await build(false);
      } catch (error) {
        if (!isNoticed) throw error;
        return build(true);
      }
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
    .replace(
      OF_STREAMS,
      "Object.defineProperty(exports, '$1', { enumerable: true, get: () => s().$1 });",
    );
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
        const changed = withLaterStreams(code);
        return changed === null ? null : { code: changed, map: null };
      },
    },
  };
}
