import assert from "node:assert/strict";
import { test } from "node:test";
import { Script } from "node:vm";

import { remedyFor } from "../../../fxtrio/js/worker/remedies.cjs";
import { Stacks } from "../../../fxtrio/js/worker/stacks.cjs";

const CHILD =
  "Objects are not valid as a React child (found: object with keys {id, title}).";
const MINIFIED =
  "Minified React error #31; visit https://react.dev/errors/31?args[]=" +
  "object%20with%20keys%20%7Bid%2C%20title%7D for the full message.";
const book = { id: 1, title: "Emma" };

test("an object as a child is found in the data", () => {
  const of = (data, layoutData = {}) =>
    remedyFor("Error", CHILD, { props: { data, layoutData } });

  assert.equal(
    of({ book }),
    "It is like 'data.book'. Show a value of it, such as {data.book.id}.",
  );
  assert.match(of({ books: [{ id: 2 }, book] }), /'data\.books\[1\]'/);
  assert.match(of({ x: null }, { book }), /'layoutData\.book'/);
  assert.match(
    remedyFor("Error", MINIFIED, { props: { data: book } }),
    /^It is like 'data'/,
  );
});

test("an object that is not in the data is told without a place", () => {
  const remedy = "Show a value of it, such as {….id}.";

  assert.equal(
    remedyFor("Error", CHILD, { props: { data: { title: "x" } } }),
    remedy,
  );
  assert.equal(remedyFor("Error", CHILD), remedy);
});

test("what Node refuses is to be had from the loader", () => {
  const message =
    "Access to this API has been restricted. Use --allow-fs-read to manage permissions.";

  assert.match(remedyFor("Error", message), /from the loader/);
});

test("an import in code of run time is to be written in a module", async () => {
  const imported = new Script("import('node:os')").runInThisContext();
  const error = await imported.catch((/** @type {Error} */ thrown) => thrown);

  assert.match(remedyFor(error.name, error.message), /write the import\(\) in a module/);
});

test("names of browsers have a remedy, and other errors none", () => {
  assert.match(
    remedyFor("ReferenceError", "window is not defined"),
    /in an effect.*<ClientOnly>/,
  );
  assert.equal(remedyFor("ReferenceError", "windw is not defined"), "");
  assert.equal(remedyFor("TypeError", "100% wrong"), "");
});

test("message and stack have the remedy, and no line of the renderer", () => {
  const error = new Error(CHILD);
  error.stack = `Error: ${CHILD}\n    at retryNode (/app/node_modules/react-dom/cjs/a.js:1:2)`;
  const { message, stack } = new Stacks().describe(error, {
    props: { data: { book } },
  });

  assert.ok(
    message.endsWith(
      "{id, title}). It is like 'data.book'. Show a value of it, such as {data.book.id}.",
    ),
  );
  assert.equal(stack, `Error: ${message}`);
});

test("an envelope of Pyxle is named where the page misses its data", () => {
  const message = "Cannot read properties of undefined (reading 'title')";
  const inner = { title: "x" };
  const enveloped = { props: { data: { data: inner, revalidate: 60 } } };
  assert.match(remedyFor("TypeError", message, enveloped), /CACHE = \{'revalidate': …\}/);
  assert.equal(remedyFor("TypeError", message, { props: { data: inner } }), "");
  assert.equal(remedyFor("TypeError", message, { props: {} }), "");
  assert.equal(remedyFor("TypeError", message), "");
  assert.equal(remedyFor("Error", "my own", enveloped), "");
});
