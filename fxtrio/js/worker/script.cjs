/**
 * Loads a bundle with what V8 has compiled of it at the build, in a third of the time.
 *
 * Node offers that for scripts, so the bundle, a module, is run as the body of a function. The
 * compiled code lies beside it, and is V8's to refuse: then, or without it, the bundle is an
 * ordinary module, or is compiled again. CommonJS, since a process starts faster with it.
 */

'use strict';

const fs = require('node:fs');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

/** An import of the bundle, as the bundler writes it: of what Node has, on a line at the start. */
const IMPORT =
  /^import (?:([\w$]+)|\* as ([\w$]+)|([\w$]+, )?\{ ([\w$, ]+) \}) from ("node:[\w/]+");$/;

/** Its exports, at the end. */
const EXPORT = '\nexport { ';
const EXPORTED = /^\nexport \{ ([\w$, ]+) \};\n+(?:\/\/# sourceMappingURL=\S+\n?)?$/;

/** How the bundler gives CommonJS modules their `require`. */
const REQUIRE = 'createRequire(import.meta.url)';

/**
 * Return a module as an expression, line by line the same; null for one that is written otherwise.
 * The expression is a function of `require` and of the module's URL.
 *
 * @param {string} code
 * @returns {string | null}
 */
function asFunction(code) {
  const end = code.lastIndexOf(EXPORT);
  const exported = end === -1 ? null : EXPORTED.exec(code.slice(end));
  if (exported === null) return null;
  let start = 0;
  let imports = '';
  while (code.startsWith('import ', start)) {
    const next = code.indexOf('\n', start);
    const made = requireOf(code.slice(start, next));
    if (made === null) return null;
    imports += `${made}\n`;
    start = next + 1;
  }
  const body = code.slice(start, end).replace(REQUIRE, 'createRequire(__fx_url)');
  const names = exported[1].split(', ').map((name) => name.split(' as ').reverse().join(': '));
  return `(async function (require, __fx_url) {"use strict";${imports}${body}\nreturn { ${names.join(', ')} };})`;
}

/**
 * @param {string} line with an import
 * @returns {string | null} null for another one
 */
function requireOf(line) {
  const match = IMPORT.exec(line);
  if (match === null) return null;
  const [, whole, all, also = '', names = '', from] = match;
  if (whole !== undefined) return `const ${whole} = require(${from});`;
  if (all !== undefined) {
    return `const ${all} = { ...require(${from}), default: require(${from}) };`;
  }
  const taken = `{ ${names.replaceAll(' as ', ': ')} } = require(${from})`;
  return `const ${also === '' ? '' : `${also.slice(0, -2)} = require(${from}), `}${taken};`;
}

/**
 * @param {string} bundle path of its file
 * @param {Buffer} [cachedData] what V8 has compiled of it
 * @returns {{ script: vm.Script, run: () => Promise<any> } | null} null if it has to be a module
 */
function scriptOf(bundle, cachedData) {
  const made = asFunction(fs.readFileSync(bundle, 'utf8'));
  if (made === null) return null;
  const { href } = pathToFileURL(bundle);
  const loader = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  let script;
  try {
    script = new vm.Script(made, {
      filename: href,
      cachedData,
      importModuleDynamically: /** @type {any} */ (loader),
    });
  } catch {
    return null; // with syntax that only modules have
  }
  return { script, run: () => script.runInThisContext()(require, href) };
}

/** @param {string} bundle */
const compiledOf = (bundle) => `${bundle}.compiled`;

/**
 * Load a bundle and compile it, with all that has run by now.
 *
 * @param {string} bundle path of its file
 * @returns {Promise<Buffer | null>} null if it has to be a module
 */
async function compile(bundle) {
  const made = scriptOf(bundle);
  if (made === null) return null;
  const app = await made.run();
  app.warm?.();
  return made.script.createCachedData();
}

/**
 * Return what a bundle exports.
 *
 * @param {string} bundle path of its file
 * @returns {Promise<any>}
 */
async function load(bundle) {
  let compiled;
  try {
    compiled = fs.readFileSync(compiledOf(bundle));
  } catch {
    return import(pathToFileURL(bundle).href); // none was made
  }
  return (await scriptOf(bundle, compiled)?.run()) ?? import(pathToFileURL(bundle).href);
}

exports.asFunction = asFunction;
exports.compile = compile;
exports.compiledOf = compiledOf;
exports.load = load;
exports.scriptOf = scriptOf;
