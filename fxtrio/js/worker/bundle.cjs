/**
 * Loads the bundle of an app: a script, or an ES module where its code needs that.
 *
 * Beside a script is the code that V8 has compiled it to, which saves half of the CPU time of a
 * start; V8 takes such code for scripts alone, without `import()`. The build makes it (`keepCompiled`). Without it, or
 * with the code of another Node, V8 compiles the script.
 */

'use strict';

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { cachedDataVersionTag } = require('node:v8');
const vm = require('node:vm');

/** Bytes of SHA-256, in front of the compiled code. */
const DIGEST_SIZE = 32;

/** The URL of a script in stacks: compiled code keeps the one of its build, whose folder is renamed. */
const NAME = 'file:///server.cjs';

/**
 * The URLs of loaded bundles, by what stacks call them.
 *
 * @type {Map<string, string>}
 */
const FILES = new Map();

/**
 * Return what the bundle in `file` exports, or a promise of it.
 *
 * @param {string} file
 */
function loadBundle(file) {
  if (isScript(file)) return runBundle(compileBundle(file), file);
  const url = pathToFileURL(file).href;
  FILES.set(url, url);
  return import(url);
}

/**
 * Return the URL of the file that a URL in a stack names.
 *
 * @param {string} url
 */
function fileOfFrame(url) {
  return FILES.get(url) ?? url;
}

/** Return what stacks call the bundles that are loaded: URLs. */
function bundleNames() {
  return [...FILES.keys()];
}

/** @param {string} file */
function isScript(file) {
  return file.endsWith('.cjs');
}

/**
 * Return a CommonJS module as the text of a script: a function of what Node gives such a module. The
 * lines stay the same. A worker would have a copy of all of it in memory if it put that around it.
 *
 * @param {string} code
 */
function asScript(code) {
  return `(function (exports, require, __filename, __dirname) {${code}\n})`;
}

/**
 * @param {string} file
 * @returns {vm.Script}
 */
function compileBundle(file) {
  const code = fs.readFileSync(file, 'utf8');
  return new vm.Script(code, {
    filename: NAME,
    cachedData: readCompiled(file, code),
  });
}

/**
 * @param {vm.Script} script
 * @param {string} file
 * @returns {any} its exports
 */
function runBundle(script, file) {
  const exported = {};
  FILES.set(NAME, pathToFileURL(file).href);
  script.runInThisContext()(exported, createRequire(file), file, path.dirname(file));
  return exported;
}

/**
 * Write what V8 has compiled of a script so far.
 *
 * @param {vm.Script} script
 * @param {string} file
 */
function keepCompiled(script, file) {
  const compiled = script.createCachedData();
  const digest = digestOf(fs.readFileSync(file, 'utf8'), compiled);
  fs.writeFileSync(compiledFile(file), Buffer.concat([digest, compiled]));
}

/**
 * Return the compiled code of a script; undefined without code of this Node that is whole. V8 itself
 * only looks at its own version and options, and at the script's length.
 *
 * @param {string} file
 * @param {string} code
 */
function readCompiled(file, code) {
  let bytes;
  try {
    bytes = fs.readFileSync(compiledFile(file));
  } catch {
    return undefined;
  }
  const compiled = bytes.subarray(DIGEST_SIZE);
  const isWhole = digestOf(code, compiled).equals(bytes.subarray(0, DIGEST_SIZE));
  return isWhole ? compiled : undefined;
}

/** @param {string} file */
function compiledFile(file) {
  return `${file}.v8`;
}

/**
 * @param {string} code
 * @param {Buffer} compiled
 */
function digestOf(code, compiled) {
  const { createHash } = require('node:crypto');
  const { arch, platform, versions } = process;
  const node = JSON.stringify([arch, platform, versions, cachedDataVersionTag()]);
  return createHash('sha256').update(node).update(code).update(compiled).digest();
}

exports.asScript = asScript;
exports.bundleNames = bundleNames;
exports.compileBundle = compileBundle;
exports.fileOfFrame = fileOfFrame;
exports.isScript = isScript;
exports.keepCompiled = keepCompiled;
exports.loadBundle = loadBundle;
exports.runBundle = runBundle;
