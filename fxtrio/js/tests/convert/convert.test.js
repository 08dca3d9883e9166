import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { nextEdits } from '../../convert/next.js';
import { pyxleEdits } from '../../convert/pyxle.js';
import { loadTools } from '../../check/checker.js';

const tools = await loadTools(fileURLToPath(new URL('../..', import.meta.url)));
const CONTEXT = { moved: { 'app/x/page.tsx': 'pages/x/index.fxl' }, aliases: [] };

/**
 * @param {string} text
 * @param {'next' | 'pyxle'} [framework]
 * @param {string} [path]
 */
function rewritten(text, framework = 'next', path = 'pages/x/index.fxl') {
  const { program, errors } = tools.parse(path, text, { lang: 'tsx' });
  assert.deepEqual(errors, []);
  const file = { path, text, before: 'app/x/page.tsx', pages: 'pages' };
  const tree = /** @type {any} */ (program);
  const found = framework === 'next' ? nextEdits(tree, file, CONTEXT) : pyxleEdits(tree, file);
  const edits = [...found.edits].sort((one, other) => one.start - other.start);
  let result = '';
  let end = 0;
  for (const edit of edits) {
    result += text.slice(end, edit.start) + edit.text;
    end = edit.end;
  }
  return { text: result + text.slice(end), ...found };
}

for (const [before, after] of [
  ["import L from 'next/link';\n", "import { Link as L } from 'fx/client';\n"],
  ["import type { NextPage } from 'next';\nlet a;\n", 'let a;\n'],
  [
    "import { useParams, redirect } from 'next/navigation';\n",
    "import { useParams } from 'fx/client';\nimport { redirect } from 'next/navigation';\n",
  ],
  [
    "import Link from 'next/link';\nimport Image from 'next/image';\n",
    "import { Image, Link } from 'fx/client';\n",
  ],
  [
    "import y from './y';\nimport x from '../x/page';\n",
    "import y from '../../app/x/y';\nimport x from './index.fxl';\n",
  ],
  ['const a = process.env.NEXT_PUBLIC_A;\n', 'const a = import.meta.env.FX_PUBLIC_A;\n'],
  ["export const runtime = 'edge';\nlet a;\n", 'let a;\n'],
  [
    "import './x.css';\nexport default (props: LayoutProps<'/'>) => <p>{props.children}</p>;\n",
    "import { type LayoutProps } from 'fx/client';\nimport '../../app/x/x.css';\n" +
      'export default (props: LayoutProps) => <p>{props.children}</p>;\n',
  ],
]) {
  test(`of Next.js: ${before.trim()}`, () => assert.equal(rewritten(before).text, after));
}

test('of Next.js: <Head> is imported where the first statement is taken away', () => {
  const layout = 'export default () => <html lang="en"><body><p /></body></html>;\n';
  const { text } = rewritten(`export const dynamic = 'error';\n${layout}`);
  assert.match(text, /^import { Head } from 'fx\/client';\nexport default [^]*<Head>/);
});

const ROUTER = "import { useRouter } from 'next/navigation';\n";

for (const use of [
  'const r = useRouter(); r.push("/", { scroll: false });',
  'const r = useRouter(); send(r);',
  'const { push } = useRouter(); send(push);',
  'const { push, ...rest } = useRouter(); push("/");',
  'const { events } = useRouter(); events();',
  'const r = useRouter(); const navigate = 1; r.push("/");',
  'const r = useRouter(); r.events.on("x", f);',
  'useRouter().push("/");',
]) {
  test(`a router that is used otherwise stays: ${use}`, () => {
    const text = `${ROUTER}function Part() { ${use} }\n`;
    assert.equal(rewritten(text).text, text);
  });
}

test('all calls of a router are those of functions', () => {
  const use = 'const r = useRouter();\n  useEffect(() => r.back(), [a, r]);\n  r.replace(url);';
  assert.equal(
    rewritten(`${ROUTER}function Part() {\n  ${use}\n  x.r;\n}\n`).text,
    "import { navigate } from 'fx/client';\n" +
      'function Part() {\n  useEffect(() => history.back(), [a]);\n' +
      '  navigate(url, { replace: true });\n  x.r;\n}\n',
  );
});

test('methods that are taken from a router are functions, too', () => {
  const use =
    'const { push, replace: go } = useRouter();\n  push("/");\n  go("/x");\n  f({ push: 1 });';
  assert.equal(
    rewritten(`${ROUTER}function Part() {\n  ${use}\n}\n`).text,
    "import { navigate } from 'fx/client';\n" +
      'function Part() {\n  navigate("/");\n  navigate("/x", { replace: true });\n  f({ push: 1 });\n}\n',
  );
});

test('parameters are no promise', () => {
  const { text } = rewritten(
    "import { use } from 'react';\n" +
      'export default function Page({ params }: { params: Promise<{ id: string }> }) {\n' +
      '  const { id } = use(params);\n  return use(other);\n}\n',
  );
  assert.equal(
    text,
    "import { use } from 'react';\n" +
      'export default function Page({ params }: { params: { id: string } }) {\n' +
      '  const { id } = params;\n  return use(other);\n}\n',
  );
});

test('metadata that is not all known keeps the rest', () => {
  const { text, python } = rewritten(
    "export const metadata = { title: 'A <b>', openGraph: { x: 1 }, keywords: ['a', 'b'] };\n",
  );
  assert.equal(text, 'export const metadata = {\n  openGraph: { x: 1 },\n};\n');
  assert.deepEqual(python, [
    'HEAD = [\n    "<title>A &lt;b&gt;</title>",\n    "<meta name=\\"keywords\\" content=\\"a, b\\">",\n]',
  ]);
});

test('metadata that is computed stays', () => {
  const text = 'export const metadata = { title: name };\n';
  assert.equal(rewritten(text).text, text);
});

test('a document in another component than its own stays', () => {
  const text = 'const a = <html><Theme><body>{b}</body></Theme></html>;\n';
  assert.equal(rewritten(text).text, text);
});

test('the function that signs up is listed', () => {
  const imported = "import { useAuth } from 'pyxle/client';\n";
  for (const use of ['const { signup, user } = useAuth();', 'const go = useAuth().signup;']) {
    const { left } = rewritten(`${imported}function Part() { ${use} }\n`, 'pyxle');
    assert.deepEqual(
      left.map(({ remedy }) => remedy),
      ['Call login(…) after it'],
    );
  }
  const other = `${imported}const { user } = useAuth(); const { signup } = mine();\n`;
  assert.deepEqual(rewritten(other, 'pyxle').left, []);
});

for (const [before, after] of [
  ["import { Link } from 'pyxle/client';\n", "import { Link } from 'fx/client';\n"],
  [
    "import { Form as F } from 'pyxle/client';\n<F pagePath='/' shallow other />;\n",
    "import { Form as F } from 'fx/client';\n<F page='/' shallow other />;\n",
  ],
  [
    "import { useAction } from 'pyxle/client';\nuseAction('a', { pagePath, x: { pagePath } });\n",
    "import { useAction } from 'fx/client';\nuseAction('a', { page: pagePath, x: { pagePath } });\n",
  ],
  ['<Form pagePath="/" />;\n', '<Form pagePath="/" />;\n'],
  ['const text = "import \'pyxle/client\'";\n', 'const text = "import \'pyxle/client\'";\n'],
]) {
  test(`of Pyxle: ${before.trim()}`, () => assert.equal(rewritten(before, 'pyxle').text, after));
}
