import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import {
  asScript,
  isScript,
  loadBundle,
} from "../../../fxtrio/js/worker/bundle.cjs";
import { Stacks } from "../../../fxtrio/js/worker/stacks.cjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fx stacks (1) "));
after(() => fs.rmSync(folder, { recursive: true }));

/** Write a module whose line 2 comes from line 12, column 5 of a page, and import it. */
async function importModule(name, map) {
  const file = path.join(folder, name);
  fs.writeFileSync(
    file,
    "export function fail(cause) {\n  throw new TypeError('broken', { cause });\n}\n",
  );
  if (map !== undefined) fs.writeFileSync(`${file}.map`, map);
  return import(pathToFileURL(file).href);
}

function thrownBy(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: "nothing was thrown" });
}

// Generated line 2, column 3 → source 0, line 12, column 5 (all from 1): "EAWI".
const MAP = JSON.stringify({
  version: 3,
  sources: ["pages/blog/[id].fxl"],
  names: [],
  mappings: ";EAWI",
});

test("a stack names the lines of the page file", async () => {
  const { fail } = await importModule("mapped.mjs", MAP);
  const { name, message, stack } = new Stacks().describe(
    thrownBy(() => fail()),
  );
  assert.deepEqual([name, message], ["TypeError", "broken"]);
  assert.ok(stack.includes(`${folder}/pages/blog/[id].fxl:12:5`), stack);
});

test("places of a bundle in a text are those of the sources, and no others", async () => {
  const code = '\n  exports.stack = new Error("kept").stack';
  for (const name of ["server.cjs", "server.mjs"]) {
    const file = path.join(folder, name);
    fs.writeFileSync(
      file,
      isScript(file)
        ? asScript(code)
        : code.replace("exports.stack", "export const stack"),
    );
    fs.writeFileSync(`${file}.map`, MAP);
    const { stack } = await loadBundle(file);
    const text = `Look: ${stack}\n    at file:///srv/other.mjs:2:3`;
    const located = new Stacks().locate(text);
    assert.match(
      located,
      /^Look: Error: kept\n    at .*pages\/blog\/\[id\]\.fxl:12:5/,
    );
    assert.ok(located.includes("file:///srv/other.mjs:2:3"), located);
    assert.ok(!located.includes(name), located);
  }
});

test("the stacks of causes follow", async () => {
  const { fail } = await importModule("cause.mjs", MAP);
  const inner = thrownBy(() => fail());
  const { stack } = new Stacks().describe(thrownBy(() => fail(inner)));
  assert.match(
    stack,
    /^TypeError: broken\n[^]*\nCaused by: TypeError: broken\n/,
  );
  assert.equal(stack.split("[id].fxl:12:5").length, 3);
});

test("frames of the renderer are left out, unless there are no others", () => {
  const react =
    "    at renderElement (/app/node_modules/react-dom/cjs/server.js:1:2)";
  const error = new Error("broken");
  error.stack = `Error: broken\n    at Home (/app/pages/index.fxl:3:4)\n${react}`;
  assert.equal(
    new Stacks().describe(error).stack,
    error.stack.replace(`\n${react}`, ""),
  );
  error.stack = `Error: broken\n${react}`;
  assert.equal(new Stacks().describe(error).stack, error.stack);
});

test("frames of the framework and colours are left out", () => {
  const own = new URL("../../../fxtrio/js/develop/views.js", import.meta.url)
    .href;
  const error = new Error("broken");
  error.stack = [
    "\x1b[31mError: \x1b[0mbroken",
    "    at Once (/app/postcss.config.mjs:1:65)",
    "    at runAsync (/root/.cache/toolchain-f241e72b/node_modules/postcss/lib/lazy.js:296:26)",
    "    at async Promise.all (index 0)",
    `    at async #load (${own}:87:22)`,
    "    at process.processTimers (node:internal/timers:519:7)",
  ].join("\n");
  error.message = "\x1b[31mbroken\x1b[0m";
  const { message, stack } = new Stacks().describe(error);
  assert.equal(message, "broken");
  assert.equal(
    stack,
    "Error: broken\n    at Once (/app/postcss.config.mjs:1:65)",
  );
});

test("a chain of causes that is a circle ends", () => {
  const error = new Error("round");
  error.cause = error;
  assert.equal(new Stacks().describe(error).stack.split("Caused by").length, 4);
});

test("without a map the module is named as a path", async () => {
  const { fail } = await importModule("bare.mjs");
  const { stack } = new Stacks().describe(thrownBy(() => fail()));
  assert.ok(
    stack.includes(encodeURI(`${folder}/bare.mjs`)) ||
      stack.includes(`${folder}/bare.mjs:2:9`),
    stack,
  );
  assert.ok(!stack.includes("file://"), stack);
});

test("a broken map is no error", async () => {
  const { fail } = await importModule("broken.mjs", "{ not JSON");
  assert.equal(new Stacks().describe(thrownBy(() => fail())).message, "broken");
});

for (const [thrown, message] of [
  ["text", "text"],
  [undefined, "undefined"],
  [null, "null"],
  [{ toString: () => "object" }, "object"],
]) {
  test(`${String(thrown)} can be thrown`, () => {
    assert.deepEqual(new Stacks().describe(thrown), {
      name: "Error",
      message,
      stack: "",
    });
  });
}

test("what cannot be shown is no error", () => {
  const trap = {
    toString() {
      throw new Error("no");
    },
  };
  assert.match(new Stacks().describe(trap).message, /cannot be shown/);
  assert.match(
    new Stacks().describe(Object.create(null)).message,
    /cannot be shown/,
  );
});

test("messages and stacks are bounded, and can be encoded", () => {
  const { message, stack } = new Stacks().describe(
    new Error(`\ud800${"x".repeat(100_000)}`),
  );
  assert.equal(message.length, 4097);
  assert.equal(stack.length, 32769);
  assert.ok(message.isWellFormed() && stack.isWellFormed());
});
