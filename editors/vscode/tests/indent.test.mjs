import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const { indentBehind } = require('../src/indent.js');

for (const [text, indent] of [
  ['def f():', '    '],
  ['async def load(request):  # of the page', '    '],
  ['    if x:', '        '],
  ['    else:', '        '],
  ['    try:', '        '],
  ['    except (A, B) as error:', '        '],
  ['def f(\n    a,\n) -> int:', '    '],
  ['def f():\n  return 1\n\ndef g():', '  '],
  ['class A:\n\tx = 1\n\tdef f(self):', '\t\t'],
  ['def f():\n\n    x = {\n        "a": 1}\n    if x:', '        '],
  ['x = 1', undefined],
  ['if x: return 1', undefined],
  ['export default function Page({ data }) {', undefined],
  ['  switch (a) {\n    case 1:', undefined],
  ['  const kinds = {\n    class:', undefined],
  ['  return a ? (\n    b\n  ) :', undefined],
  ['', undefined],
]) {
  test(`behind ${JSON.stringify(text)} the indent is ${JSON.stringify(indent)}`, () => {
    assert.equal(indentBehind(String(text).split('\n')), indent);
  });
}
