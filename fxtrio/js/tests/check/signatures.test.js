/** What is known of the components and functions of `fx/client`, and of the attributes of React. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { parseSync } from 'rolldown/utils';

import { attributesOf } from '../../check/attributes.js';
import { signaturesOf } from '../../check/signatures.js';

const client = fileURLToPath(new URL('../../client/index.d.ts', import.meta.url));
const { program } = parseSync(client, fs.readFileSync(client, 'utf8'), { lang: 'dts' });
const signatures = signaturesOf(/** @type {any} */ (program));

test('properties, options and results are read from the declarations', () => {
  const link = { names: ['href', 'prefetch', 'replace', 'scroll'], element: 'a' };
  assert.deepEqual(signatures.get('Link'), { takes: [link], gives: null });
  const form = signatures.get('Form')?.takes[0];
  assert.equal(form?.element, 'form');
  for (const name of ['page', 'onError', 'method', 'scroll']) assert.ok(form?.names.includes(name));
  assert.deepEqual(signatures.get('useAction')?.takes, [
    null,
    { names: ['page', 'throws', 'reduce', 'initial', 'optimistic'], element: null },
  ]);
  const gives = ['pending', 'data', 'error', 'fields', 'stop', 'optimistic'];
  assert.deepEqual(signatures.get('useAction')?.gives, { names: gives, element: null });
});

test('what may have any property has no list', () => {
  assert.deepEqual(signatures.get('Slot')?.takes, [null]);
  assert.equal(signatures.get('useParams')?.gives, null);
  assert.equal(signatures.get('useSearchParams')?.gives, null);
});

test('the attributes of elements are those that React has types for', () => {
  const types = createRequire(import.meta.url).resolve('@types/react/package.json');
  const text = fs.readFileSync(types.replace('package.json', 'index.d.ts'), 'utf8');
  const namesIn = (/** @type {string} */ name) => {
    const body = text.match(new RegExp(`interface ${name}[ <][^{]*\\{(.*?)\\n    \\}`, 's'))?.[1];
    const names = [...(body ?? '').matchAll(/^ {8}(\w+)\??:/gm)].map((found) => found[1]);
    return names.filter((one) => !/^on[A-Z]/.test(one));
  };
  const every = [...namesIn('HTMLAttributes'), ...namesIn('DOMAttributes'), 'key', 'ref'];
  for (const [element, name] of [
    ['a', 'Anchor'],
    ['form', 'Form'],
    ['img', 'Img'],
  ]) {
    const expected = [...every, ...namesIn(`${name}HTMLAttributes`)];
    assert.deepEqual(attributesOf(element).sort(), expected.sort());
  }
});
