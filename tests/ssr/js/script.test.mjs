import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { compile, compiledOf, load, scriptOf } from '../../../fxtrio/js/worker/script.cjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fx script (1) ü '));
after(() => fs.rmSync(folder, { recursive: true }));
fs.writeFileSync(path.join(folder, 'other.mjs'), 'export const other = 1;');

let count = 0;

/** Write a bundle, compiled if it can be, and return what a worker finds of it, and a module. */
async function loaded(code) {
  count += 1;
  const bundle = path.join(folder, `${count}.mjs`);
  fs.writeFileSync(bundle, code);
  const compiled = await compile(bundle);
  if (compiled !== null) fs.writeFileSync(compiledOf(bundle), compiled);
  return { bundle, compiled, app: await load(bundle), wanted: await import(pathToFileURL(bundle)) };
}

const SCRIPTS = {
  'no import': 'const pages = 1;\nexport { pages };\n',
  'every kind of import': [
    'import { basename, join as put } from "node:path";',
    'import os from "node:os";',
    'import path, { dirname } from "node:path";',
    'import * as url from "node:url";',
    'const a = [put("a", "b"), basename("a/b"), os.EOL, path.sep, dirname("a/b"), typeof url.URL];',
    'const b = url.default === url;',
    'const c = url.default.URL === url.URL;',
    'export { a, c as d };',
    '',
    '//# sourceMappingURL=server.mjs.map',
  ].join('\n'),
  'packages of CommonJS': [
    'import { createRequire } from "node:module";',
    'var __require = /* #__PURE__ */ (() => createRequire(import.meta.url))();',
    'const pages = __require("node:path").join("a", "b");',
    'export { pages };',
    '',
  ].join('\n'),
  'what waits, and an import': [
    'const { other } = await import("./other.mjs");',
    'function own() { return this === undefined; }',
    'const strict = own();',
    'export { other, strict };',
    '',
  ].join('\n'),
};

for (const [name, code] of Object.entries(SCRIPTS)) {
  test(`a bundle with ${name} is a script that exports what the module does`, async () => {
    const { compiled, app, wanted } = await loaded(code);
    assert.notEqual(compiled, null);
    assert.deepEqual({ ...app }, { ...wanted });
  });
}

const MODULES = {
  'its own URL': 'const pages = import.meta.url;\nexport { pages };\n',
  'an import of a package': 'import { other } from "./other.mjs";\nexport { other };\n',
  'an export of another kind': 'export const pages = 1;\n',
};

for (const [name, code] of Object.entries(MODULES)) {
  test(`a bundle with ${name} stays a module`, async () => {
    const { compiled, app, wanted } = await loaded(code);
    assert.equal(compiled, null);
    assert.equal(app, wanted);
  });
}

test('what V8 refuses is compiled again', async () => {
  const { bundle } = await loaded(SCRIPTS['no import']);
  fs.writeFileSync(compiledOf(bundle), 'of another version');
  assert.deepEqual(await load(bundle), { pages: 1 });
});

test('errors have the lines of the module', async () => {
  const code =
    'import os from "node:os";\n\nfunction fail() {\n  os.nothing();\n}\nexport { fail };\n';
  const { app, wanted } = await loaded(code);
  const places = [app, wanted].map(({ fail }) => {
    try {
      return fail();
    } catch (error) {
      return /file:\S+/.exec(error.stack)[0];
    }
  });
  assert.equal(places[0], places[1]);
});

test('a process with a limit of the heap takes what was compiled without', async () => {
  const { bundle } = await loaded(SCRIPTS['every kind of import']);
  const own = (name) =>
    JSON.stringify(fileURLToPath(new URL(`../../../fxtrio/js/worker/${name}`, import.meta.url)));
  const code = `require(${own('options.cjs')});
    const { compiledOf, scriptOf } = require(${own('script.cjs')});
    const [bundle] = process.argv.slice(1);
    const compiled = require('node:fs').readFileSync(compiledOf(bundle));
    process.stdout.write(String(scriptOf(bundle, compiled).script.cachedDataRejected));`;
  const said = execFileSync(process.execPath, ['--max-old-space-size=64', '-e', code, bundle]);
  assert.equal(String(said), 'false');
  assert.equal(
    scriptOf(bundle, fs.readFileSync(compiledOf(bundle))).script.cachedDataRejected,
    false,
  );
});
