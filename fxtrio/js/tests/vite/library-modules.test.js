import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { build, parseSync } from 'vite';

import {
  asModule,
  FEATURE_TEST,
  libraryModules,
  withLaterStreams,
} from '../../vite/library/modules.js';
import { onlyReads } from '../../vite/library/uses.js';

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
 * @param {{ packages?: Record<string, string>, isPublished?: boolean }} [options] `packages` are
 *   installed: the code of each, by its name
 */
async function bundled(context, code, { packages = {}, isPublished = false } = {}) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-library-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  fs.writeFileSync(path.join(root, 'entry.js'), code);
  fs.writeFileSync(path.join(root, 'old.cjs'), 'exports.version = require("react").version;');
  fs.mkdirSync(path.join(root, 'node_modules'));
  for (const name of ['react', 'react-dom', 'scheduler']) {
    fs.cpSync(path.join(PACKAGES, name), path.join(root, 'node_modules', name), {
      recursive: true,
    });
  }
  for (const [name, text] of Object.entries(packages)) {
    const folder = path.join(root, 'node_modules', name);
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'package.json'), '{"main": "index.js"}');
    fs.writeFileSync(path.join(folder, 'index.js'), text);
  }
  /** @type {string[]} */
  const warnings = [];
  const library = libraryModules();
  const plugins = isPublished ? [] : [library.plugin];
  const runBuild = () =>
    build({
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
          onwarn: ({ message }) => FEATURE_TEST.test(message) || warnings.push(message),
        },
      },
    });
  const { output } = /** @type {{ output: any[] }} */ (await library.building(runBuild));
  return { text: /** @type {string} */ (output[0].code), warnings };
}

test('a bundle has what it uses of the library, and no more', async (context) => {
  const code = [
    'import { useState } from "react";',
    'import { createRoot } from "react-dom/client";',
    'globalThis.used = [useState, createRoot];',
  ].join('\n');
  const { text, warnings } = await bundled(context, code);
  const whole = await bundled(context, code, { isPublished: true });

  assert.deepEqual(warnings, []);
  assert.match(whole.text, /prefetchDNS =/);
  assert.doesNotMatch(text, /prefetchDNS =|cloneElement|checkDCE/);
  assert.ok(text.length < 0.95 * whole.text.length, `${text.length} of ${whole.text.length}`);
});

const MISSED =
  'import { unstable_Activity, version } from "react"; export default [typeof unstable_Activity, typeof version];';

/** Packages that would notice that the library is not as it is published, and what they find. */
const NOTICING = /** @type {[string, string, unknown][]} */ ([
  [
    'assigns to a default import',
    'import React from "react"; import { createElement } from "react"; React.createElement = () => "own"; export default [createElement("a"), React.createElement("a")];',
    ['own', 'own'],
  ],
  [
    'assigns in CommonJS',
    'var React = require("react"); React.createElement = () => "own"; module.exports = require("react").createElement("a");',
    'own',
  ],
  [
    'is minified',
    'var r=require(`react`);r.version=`own`,module.exports=require(`react`).version',
    'own',
  ],
  [
    'imports the whole later',
    'import { version } from "react"; export default typeof version; globalThis.later = () => import(`react`);',
    'string',
  ],
  [
    'assigns through a function',
    'const React = require("react"); Object.assign(React, { version: "own" }); module.exports = React.version;',
    'own',
  ],
  [
    'assigns to a pattern',
    'import React from "react"; [React.version] = ["own"]; export default React.version;',
    'own',
  ],
  ['imports a name that is missing', MISSED, ['undefined', 'string']],
  [
    'exports a name that is missing',
    'export { unstable_Activity as default } from "react";',
    undefined,
  ],
  [
    'asks whether there is a name in CommonJS',
    'const dom = require("react-dom"); module.exports = ["createRoot" in dom, "render" in require("react-dom"), "createPortal" in dom];',
    [false, false, true],
  ],
  [
    'calls a method of all objects',
    'import * as React from "react"; export default [React.hasOwnProperty("useId"), React.hasOwnProperty("useNothing")];',
    [true, false],
  ],
]);

/** @param {string} text of a bundle */
const withoutPaths = (text) => text.replaceAll(/^\/\/ .*$/gm, '');

for (const [what, text, expected] of NOTICING) {
  test(`a package that ${what} gets the library as it is published`, async (context) => {
    const code =
      'import found from "noticing"; import { useState } from "react"; globalThis.found = [found, typeof useState];';
    const packages = { noticing: text };
    const wrapped = await bundled(context, code, { packages });
    const published = await bundled(context, code, { packages, isPublished: true });

    assert.deepEqual((await run(wrapped.text)).found, [expected, 'function']);
    assert.equal(withoutPaths(wrapped.text), withoutPaths(published.text));
  });
}

for (const text of [
  'import React, { useState } from "react"; export default [React.version, React[String("useId")], useState];',
  'import * as React from "react"; const { version } = React; export default [version, React.act === React.useId];',
  'var React = require("react"); var dom = require("react-dom"); exports.default = { React: React.useId, dom: dom.version };',
]) {
  test(`a package that only reads leaves modules: ${text.slice(0, 22)}`, async (context) => {
    const code = 'import found from "reading"; globalThis.found = found;';
    const { text: bundledText, warnings } = await bundled(context, code, {
      packages: { reading: text },
    });

    assert.deepEqual(warnings, []);
    assert.match(bundledText, /exports_version/);
  });
}

for (const [text, isSame] of /** @type {[string, boolean][]} */ ([
  ['import React from "react"; type A = React.FC; export default () => <React.Fragment />;', true],
  ['import type React from "react"; export const a: React.ReactNode = null;', true],
  ['import React from "react"; (React as any).version = "own";', false],
])) {
  test(`TypeScript ${isSame ? 'only reads' : 'does more'}: ${text}`, async () => {
    const program = /** @type {any} */ (parseSync('page.tsx', text, { lang: 'tsx' }).program);

    assert.equal(await onlyReads(program, async () => null), isSame);
  });
}

test('a name that is missing is an error in a file of the project', async (context) => {
  await assert.rejects(
    bundled(context, 'import { createFactory } from "react"; globalThis.found = createFactory;'),
    /"createFactory" is not exported by/,
  );
});

test('a name that a package of the project lacks is told', async (context) => {
  const { warnings } = await bundled(
    context,
    'import found from "asking"; globalThis.found = found;',
    {
      packages: {
        asked: 'export const a = 1;',
        asking:
          'import * as asked from "asked"; import { version } from "react"; export default [asked.b, version];',
      },
    },
  );

  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /IMPORT_IS_UNDEFINED/);
});

test('packages in CommonJS, and imports of the whole, have the same library', async (context) => {
  const code = [
    'import React, { version } from "react";',
    'import * as all from "react";',
    'import { version as old } from "./old.cjs";',
    'globalThis.found = [React.version, version, all["ver" + "sion"], old];',
  ].join('\n');
  const { text } = await bundled(context, code);
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

  const result = withLaterStreams(code);

  new Function('exports', 'require', 'process', String(result))(exports, require, {
    env: { NODE_ENV: 'production' },
  });
  assert.deepEqual([exports.renderToString, loaded], ['a string', ['./one.js']]);
  assert.deepEqual(Object.keys(exports), ['renderToString', 'resume']);
  assert.equal(exports.resume, 'of ./streams.js');
  assert.equal(String(result).split('\n').length, code.split('\n').length);
});

test('a module for servers in another form stays as it is', () => {
  assert.equal(withLaterStreams("exports.resume = require('./streams.js').resume;"), null);
  assert.equal(withLaterStreams("s = require('./s.js');\nexports.all = [s.resume];"), null);
});
