import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';
import { endpointOf, EXPORTS, MODULES, nextMistakes, nextRemedy } from '../../check/next.js';

const toolchain = fileURLToPath(new URL('../..', import.meta.url));
const tools = await loadTools(toolchain);

/** @param {string} text @param {string} [source] */
function messagesIn(text, source = 'pages/index.fxl') {
  const { program, errors } = tools.parse(source, text, { lang: 'tsx' });
  assert.deepEqual(errors, []);
  const found = nextMistakes(/** @type {any} */ (program), source);
  return found.map(({ offset, message }) => `${text.slice(offset).split('\n')[0]} | ${message}`);
}

const PAGE = 'export default function Page() {\n  return <p>x</p>;\n}\n';

for (const name of Object.keys(EXPORTS)) {
  const value = { dynamic: "'force-static'", runtime: "'edge'", revalidate: '60' }[name] ?? '{}';
  test(`the export ${name} is named`, () => {
    assert.deepEqual(messagesIn(`export const ${name} = ${value};\n${PAGE}`), [
      `${name} = ${value}; | nothing reads the export '${name}'`,
    ]);
    assert.deepEqual(messagesIn(`export const ${name} = ${value};\n${PAGE}`, 'lib/part.tsx'), []);
  });
}

test('names of Next.js with values of their own are left alone', () => {
  const own = "export const dynamic = wind(); export const runtime = '90 min'; let revalidate;\n";
  assert.deepEqual(messagesIn(`function wind() {}\n${own}${PAGE}`), []);
  assert.deepEqual(messagesIn(`export const metadata = read();\nfunction read() {}\n${PAGE}`), []);
});

test('functions of a page file are named', () => {
  assert.deepEqual(messagesIn(`export async function getServerSideProps() {}\n${PAGE}`), [
    "async function getServerSideProps() {} | nothing reads the export 'getServerSideProps'",
  ]);
});

for (const text of [
  'export default async function Page() {}',
  'async function Page() {}\nexport default Page;',
  'const Page = async () => <p>x</p>;\nexport default Page;',
  'export default async ({ data }) => <p>{data}</p>;',
]) {
  test(`an asynchronous component is named: ${text.split('\n')[0]}`, () => {
    assert.match(messagesIn(text).join(), /async.* \| a component cannot be asynchronous/);
  });
}

test('what runs on the server in Next.js, and the document, are named at their places', () => {
  const text = `export default function Page({ params, searchParams: { page } }) {
  async function save() {
    'use server';
  }
  return <html lang="de"><body>{params.id}{page}<form action={save} /></body></html>;
}
`;
  const found = messagesIn(text).map((line) => line.replace(/^.* \| /, ''));
  assert.equal(found.length, 4);
  assert.match(found[0] ?? '', /no property 'searchParams'/);
  assert.match(found[1] ?? '', /'use server' has no meaning/);
  assert.match(found[2] ?? '', /fxtrio writes <html>/);
  assert.match(found[3] ?? '', /fxtrio writes <body>/);
});

test('what is no idiom of Next.js is left alone', () => {
  const text = `'use client';
import { useState } from 'react';
export const slots = {};
async function later() { await fetch('/x'); }
export default function Page({ data, params }) {
  const [html] = useState('use server');
  return <section onClick={later}><header>{html}{params.x}</header></section>;
}
`;
  assert.deepEqual(messagesIn(text), []);
});

test('each module of Next.js has a remedy, and packages that only sound so have none', () => {
  for (const name of Object.keys(MODULES)) assert.equal(nextRemedy(name), MODULES[name]);
  assert.match(nextRemedy('next/legacy/image') ?? '', /from-next/);
  for (const name of ['next-themes', 'nextra', './next/link', '@/next/link']) {
    assert.equal(nextRemedy(name), undefined);
  }
});

test('the guide has a row for each export and each module', () => {
  const guide = path.join(toolchain, '../../docs/guides/from-next.md');
  const text = fs.readFileSync(guide, 'utf8');
  for (const name of [...Object.keys(EXPORTS), ...Object.keys(MODULES)]) {
    assert.ok(text.includes(`\`${name}\``), name);
  }
});

test('endpoints of Next.js are named, and other modules are not', () => {
  const at = (/** @type {string} */ source, /** @type {string} */ text) => {
    const { program } = tools.parse(source, text, { lang: 'ts' });
    return endpointOf(/** @type {any} */ (program), source)?.remedy;
  };
  const get = 'export async function GET() {}';
  assert.equal(at('pages/query/route.ts', get), 'Write a .py file below pages/api');
  assert.equal(at('pages/query/route.ts', 'export const POST = later;'), at('route.js', get));
  assert.match(at('pages/api/hello.ts', 'export default () => 1;') ?? '', /^Write 'hello\.py'/);
  for (const [source, text] of [
    ['pages/query/route.ts', 'export const size = 1;'],
    ['pages/query/routes.ts', get],
    ['pages/api/hello.ts', 'export const helper = 1;'],
    ['pages/rapid/hello.ts', 'export default 1;'],
  ]) {
    assert.equal(at(String(source), String(text)), undefined);
  }
});

test('attributes of the document in <Head> are left alone', () => {
  const head = '<Head><html lang="en" /><body className="x" /></Head>';
  const page = `import { Head } from 'fx/client';\nexport default () => <>${head}<html /></>;\n`;
  assert.deepEqual(
    messagesIn(page).map((one) => one.slice(0, 8)),
    ['<html />'],
  );
});

test('asynchronous components are named in modules, too', () => {
  const text = 'export async function Cards() {\n  return <p>{await read()}</p>;\n}\n';
  assert.deepEqual(messagesIn(text, 'lib/cards.tsx'), [
    'async function Cards() { | a component cannot be asynchronous: it runs in browsers, too',
  ]);
  assert.deepEqual(messagesIn('async function Load() {\n  return read();\n}\n', 'lib/load.ts'), []);
  assert.deepEqual(messagesIn('async function load() {\n  return <p />;\n}\n', 'lib/load.tsx'), []);
});

test('parameters that are said to be a promise are named', () => {
  const page = (/** @type {string} */ props) => `export default function Page(${props}) {}\n`;
  const type = '{ params: Promise<{ id: string }> }';
  for (const props of [`{ params }: ${type}`, `props: ${type}`]) {
    assert.deepEqual(messagesIn(page(props)), [
      `Promise<{ id: string }> }) {} | 'params' is not a promise here`,
    ]);
  }
  assert.deepEqual(messagesIn(page('{ params }: { params: { id: string } }')), []);
});

test('parameters that are waited for are named, and so is a property searchParams', () => {
  const page = (/** @type {string} */ props, /** @type {string} */ body) =>
    messagesIn(`export default function Page(${props}) {\n  ${body}\n}\n`).map((one) =>
      one.replace(/^[^|]*\| /, ''),
    );
  const promise = ["'params' is not a promise here"];
  assert.deepEqual(page('{ params }', 'const { id } = use(params);'), promise);
  assert.deepEqual(page('{ params: all }', 'const { id } = React.use(all);'), promise);
  assert.deepEqual(page('props', 'props.params.then(show);'), promise);
  assert.deepEqual(page('props', 'return <p>{props.searchParams.q}</p>;'), [
    "pages have no property 'searchParams'",
  ]);
  assert.deepEqual(page('{ params, data }', 'use(data.late); return params.id;'), []);
  assert.deepEqual(page('props', 'use(props.data.params); props.data.searchParams;'), []);
});
