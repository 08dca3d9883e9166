import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { asModule, ASKED, libraryModules, withLaterStreams } from '../../vite/library/modules.js';

test('exports become variables, and imports those of modules, line by line', () => {
  const code = [
    '"use strict";',
    'var React = require("react"),',
    '  Scheduler = require("scheduler");',
    'exports.now = void 0;',
    'if (React.x) exports.now = function () {};',
    'exports.later = function () {',
    '  return exports.now();',
    '};',
  ].join('\n');

  assert.equal(
    asModule(code),
    [
      'let exports_now;"use strict";',
      'import * as React from "react";',
      '  import * as Scheduler from "scheduler";',
      'exports_now = void 0;',
      'if (React.x) exports_now = function () {};',
      'const exports_later = function () {',
      '  return exports_now();',
      '};',
      'export { exports_now as now, exports_later as later };',
      '',
    ].join('\n'),
  );
});

test('a module that chooses by the mode becomes that of production', () => {
  const code = "if (production) module.exports = require('./cjs/react.production.js');";
  const from = '"./cjs/react.production.js"';

  assert.equal(
    asModule(code),
    `import * as all from ${from}; export * from ${from}; export default all;`,
  );
});

for (const code of [
  'module.exports = {};\nexports.a = 1;',
  'exports.a = require("b").c;',
  'exports["a"] = 1;\nexports.b = 2;',
  'var exports_a;\nexports.a = 1;',
  'const a = 1;',
]) {
  test(`what is not understood stays as it is: ${code.split('\n')[0]}`, () => {
    assert.equal(asModule(code), null);
  });
}

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * Return the code of a bundle that uses React.
 *
 * @param {import('node:test').TestContext} context
 * @param {string} code
 * @param {import('vite').Plugin[]} plugins
 */
async function bundled(context, code, plugins) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-library-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  fs.writeFileSync(path.join(root, 'entry.js'), code);
  fs.writeFileSync(path.join(root, 'old.cjs'), 'exports.version = require("react").version;');
  fs.symlinkSync(PACKAGES, path.join(root, 'node_modules'));
  /** @type {string[]} */
  const warnings = [];
  const result = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins,
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      minify: false,
      rolldownOptions: {
        input: `${root}/entry.js`,
        onwarn: ({ message }) => ASKED.test(message) || warnings.push(message),
      },
    },
  });
  const { output } = /** @type {{ output: any[] }} */ (result);
  return { text: /** @type {string} */ (output[0].code), warnings };
}

test('a bundle has what it uses of the library, and no more', async (context) => {
  const code = [
    'import { useState } from "react";',
    'import { createRoot } from "react-dom/client";',
    'globalThis.used = [useState, createRoot];',
  ].join('\n');
  const { text, warnings } = await bundled(context, code, [libraryModules()]);
  const whole = await bundled(context, code, []);

  assert.deepEqual(warnings, []);
  assert.match(whole.text, /prefetchDNS =/);
  assert.doesNotMatch(text, /prefetchDNS =|cloneElement|checkDCE/);
  assert.ok(text.length < 0.95 * whole.text.length, `${text.length} of ${whole.text.length}`);
});

test('what earlier versions have is undefined for packages that import it', async (context) => {
  const code = [
    'import { createFactory } from "react";',
    'import { findDOMNode, version } from "react-dom";',
    'globalThis.found = [typeof createFactory, typeof findDOMNode, typeof version];',
  ].join('\n');
  const { text } = await bundled(context, code, [libraryModules()]);

  assert.deepEqual((await run(text)).found, ['undefined', 'undefined', 'string']);
});

test('packages in CommonJS, and imports of the whole, have the same library', async (context) => {
  const code = [
    'import React, { version } from "react";',
    'import * as all from "react";',
    'import { version as old } from "./old.cjs";',
    'globalThis.found = [React.version, version, all["ver" + "sion"], old];',
  ].join('\n');
  const { text } = await bundled(context, code, [libraryModules()]);
  const { found } = await run(text);

  assert.match(found[0], /^\d+\.\d+\.\d+/);
  assert.equal(new Set(found).size, 1);
});

/**
 * Return what the code of a bundle has put into `globalThis`.
 *
 * @param {string} text
 * @returns {Promise<any>}
 */
async function run(text) {
  await import(`data:text/javascript,${encodeURIComponent(text)}`);
  return globalThis;
}

test('the renderer of streams is loaded when a page is streamed', () => {
  const code = [
    'var l, s;',
    "if (process.env.NODE_ENV === 'production') {",
    "  l = require('./one.js');",
    "  s = require('./streams.js');",
    '} else {',
    "  s = require('./streams.development.js');",
    '}',
    'exports.renderToString = l.renderToString;',
    'exports.resume = s.resume;',
  ].join('\n');
  const loaded = /** @type {string[]} */ ([]);
  const exports = /** @type {Record<string, unknown>} */ ({});
  const require = (/** @type {string} */ name) => {
    loaded.push(name);
    return { renderToString: 'a string', resume: `of ${name}` };
  };

  const made = withLaterStreams(code);

  new Function('exports', 'require', 'process', String(made))(exports, require, {
    env: { NODE_ENV: 'production' },
  });
  assert.deepEqual([exports.renderToString, loaded], ['a string', ['./one.js']]);
  assert.equal(exports.resume, 'of ./streams.js');
  assert.equal(String(made).split('\n').length, code.split('\n').length);
});

test('a module for servers in another form stays as it is', () => {
  assert.equal(withLaterStreams("exports.resume = require('./streams.js').resume;"), null);
  assert.equal(withLaterStreams("s = require('./s.js');\nexports.all = [s.resume];"), null);
});
