/** Undefined names and imports that lead nowhere, in the UI halves of page files. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { listed, loadTools, lookAtAll } from '../../check/checker.js';
import { similar } from '../../check/similar.js';

/**
 * @typedef {import('../../check/checker.js').File} File
 * @typedef {import('../../check/checker.js').Problem} Problem
 */

const toolchain = fileURLToPath(new URL('../..', import.meta.url));
const tools = await loadTools(toolchain);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'names-'));
after(() => fs.rmSync(root, { recursive: true }));

/** @param {string} text @param {string[]} [python] @param {string[] | null} [actions] */
function check(text, python = [], actions = null) {
  return checkFiles([{ path: 'pages/index.fxl', text, python, actions }]);
}

/** @param {File[]} files @param {string} [pages] */
function checkFiles(files, pages = 'no-pages') {
  fs.mkdirSync(path.join(root, pages), { recursive: true });
  return described(listed(lookAtAll(tools, { toolchain, root, pages, files })));
}

/** @param {Problem[]} problems */
function described(problems) {
  return problems.map(({ path: source, line, column, message, remedy }) => {
    const file = source === 'pages/index.fxl' ? '' : `${source}:`;
    return `${file}${line}:${column} ${message}. ${remedy}`;
  });
}

/** @param {string} name @param {string} text */
function write(name, text) {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
}

const FINE = `
import type { Shape } from './not-there';
import { FC, PropsWithChildren } from 'only-types';
import * as React from 'react';
import { Link, type PageProps, LayoutProps } from 'fx/client';
import styles from './a.module.css?inline';
import { card } from '@/lib/card';
import data from './data';
enum Size { Small, Large }
namespace Inner { export const value = 1; }
declare const gtag: (name: string) => void;
declare function later(): void;
declare global { interface Window { mine: number } var fromScript: number; }
/* global another, oneMore */
type Props<T extends object> = PageProps<T> & { [K in keyof T]: Mapped<K> };
type Mapped<K> = K extends infer U ? U : never;
abstract class Base<T> { static { card(); } #secret = 1; constructor(private readonly x: T) {} abstract run(): void; get secret() { return this.#secret + arguments.length; } }
function early<T,>(this: Window, props: Props<any>, { a: { b = 1, ...rest } = {}, c: [d, , ...e] = [] }: any): props is any {
  if (typeof winny !== 'undefined') winny();
  outer: for (const i of [d, e, rest, b]) { if (i) continue outer; }
  try { throw 1; } catch { } try { throw 1 } catch ({ message }) { message; }
  return hoisted(props as unknown as Shape) satisfies boolean;
}
var before = hoisted; const again = function self() { return self; };
function hoisted(_: any) { return later() ?? before ?? again; }
export const Wide = ({ title = 'x', children }: PropsWithChildren<{ title?: string }>) => <><my-element title={title} /><svg:rect /><Inner.Part /><data.Part />{children}</>;
export default function Page({ data: { size }, ...others }: LayoutProps & { size: Size }) {
  React.useEffect(() => { document.title = String(size); const w = window as any; gtag(w.mine + fromScript); another(oneMore); localStorage.clear(); structuredClone(new AbortController()); queueMicrotask(() => undefined); }, [Size.Small, Inner.value, early]);
  return <Link href="/" {...others} className={styles} data-x={import.meta.env.MODE + process.env.NODE_ENV}>é {size /* nothing */} {\`\${NaN}\`} text with words {'and'} <Wide.Inner key={new.target} /></Link>;
}
export class Mine extends Base<string> { override run() { super.run; void (async () => { for await (const x of []) x; await import('./data'); })(); } }
`;

test('what TypeScript, JSX, the browser and hoisting define is not undefined', () => {
  write('lib/card.ts', 'export const card = () => 1;');
  write('pages/data/index.tsx', 'export default 1;');
  write('pages/a.module.css', '');

  assert.deepEqual(check(FINE), []);
});

test('the command prints the problems on its last line', () => {
  const script = path.join(toolchain, 'check', 'check.js');
  const files = [{ path: 'pages/index.fxl', text: 'absent();', python: [], actions: null }];
  const input = JSON.stringify({ toolchain, root, pages: 'no-pages', files });
  const lines = execFileSync(process.execPath, [script], { input, encoding: 'utf8' }).split('\n');
  /** @type {{ problems: Problem[] }} */
  const { problems } = JSON.parse(lines[lines.length - 2]);

  assert.match(described(problems).join('\n'), /^1:1 undefined name 'absent' in client code/);
});

test('names of declaration files are known everywhere', () => {
  write('types/globals.d.ts', 'declare const analytics: any; interface Window { a: 1 }');
  write(
    'types/module.d.ts',
    'export {}; declare global { const pay: any; function gtag(): void } const local: 1;',
  );
  write('lib/shop.ts', 'export const own = 1; declare global { const shop: string; }');
  write('lib/view.tsx', 'declare const other: 1; declare  global { var view: 1 } export {};');

  assert.deepEqual(check('analytics(pay, shop, view, gtag());\nlocal();\nexport default 1;\n'), [
    "2:1 undefined name 'local' in client code. Define or import it; a global of another script is " +
      "'window.local'",
  ]);
});

test('names that all objects have are on no list', () => {
  const text = [
    "import { constructor, Link } from 'fx/client';",
    'export default () => <Link href="/" toString="a">a</Link>;',
    'export const a = <constructor hid />;',
  ].join('\n');

  assert.doesNotMatch(check(text, []).join('\n'), /native code/);
});

test('undefined names are reported where they stand, with what may be meant', () => {
  const text = [
    "import { Lnik } from 'fx/client';",
    'type T = Missing;',
    'export default function Page({ data }: { data: T }) {',
    '  const [message, setMessage] = useState<string>("é😀" as any);',
    '  return <p title={TITLE} onClick={() => setMesage(1)}>é😀{mesage}<Link href="/" /><Frm /></p>;',
    '}',
  ].join('\n');

  assert.deepEqual(check(text, ['TITLE', 'load']), [
    "1:10 'fx/client' has no export 'Lnik'. Did you mean 'Link'?",
    "4:33 undefined name 'useState' in client code. Write import { useState } from 'react'",
    "5:20 undefined name 'TITLE' in client code. It is a name of the server half: return it from " +
      "the loader, and write 'data.TITLE'",
    "5:42 undefined name 'setMesage' in client code. Define or import it, or write 'setMessage'",
    "5:59 undefined name 'mesage' in client code. Define or import it, or write 'message'",
    "5:67 undefined name 'Link' in client code. Write import { Link } from 'fx/client'",
    "5:84 undefined name 'Frm' in client code. Define it, or import { Form } from 'fx/client'",
  ]);
});

test('imports that lead nowhere are reported, unless only types come from them', () => {
  write('pages/styles.css', '');
  write('node_modules/there/index.js', '');
  const text = [
    "import './styls.css';",
    "import x, { y } from '../components/card';",
    "import { T } from './types';",
    "import there from 'there/deep';",
    "import { z } from '@scope/pkg/deep';",
    "import fx from 'fx/client';",
    "export * from '@/nothing.jsx';",
    "const later = () => import('./later');",
    'export default [x, y, there, z, fx, later] as T;',
  ].join('\n');

  assert.deepEqual(check(text), [
    "1:8 './styls.css' cannot be found. There is 'styles.css' in that folder",
    "2:22 '../components/card' cannot be found. Check the path",
    "5:19 '@scope/pkg/deep' cannot be found. Run 'npm install @scope/pkg'",
    "6:8 'fx/client' has no default export. Write import { … } from 'fx/client'",
    "7:15 '@/nothing.jsx' cannot be found. Check the path",
    "8:28 './later' cannot be found. Check the path",
  ]);
});

test("names that no package.json gives to the project's files are reported", () => {
  const imports = { '#parts/*': './parts/*.jsx', '#words': './words.js' };
  write('package.json', JSON.stringify({ imports }));
  const text = [
    "import Card from '#parts/Card';",
    "import words from '#words';",
    "import more from '#words/more';",
    "import none from '#part/Card';",
    'export default () => <Card words={[words, more, none]} />;',
  ].join('\n');
  assert.deepEqual(check(text), [
    `3:18 '#words/more' cannot be found. Add it to "imports" in package.json`,
    `4:18 '#part/Card' cannot be found. Add it to "imports" in package.json`,
  ]);
  write('package.json', '{');
  assert.deepEqual(check(text), []); // a build says what is wrong with it
  fs.rmSync(path.join(root, 'package.json'));
  assert.equal(check(text).length, 4);
});

test('a name is looked for where the statement that has it needs more than its type', () => {
  write('lib/made.ts', 'export const made = 1;');
  write('lib/wide.ts', "export * from 'kit'; export * from 'react';");
  write('node_modules/kit/package.json', '{ "name": "kit", "main": "index.js" }');
  write('node_modules/kit/index.js', 'exports.__esModule = true; exports.kit = 1;');
  write('node_modules/open/index.js', 'module.exports = { open: 1 };');
  const types = [
    "export { ReactNode } from 'react';",
    "export type { FC } from 'react'; export { type Ref, type Key as K } from 'react';",
    "import { ReactNode, type FC as F, useRef } from 'react';",
    "import { Kind } from 'kit'; export { Kind };",
    "import { Other } from '../lib/wide'; export { Other as Another };",
    "import { Sort } from 'kit'; export default Sort;",
    "export { Made } from '../lib/wide';",
    "import { any } from 'open';",
    'export enum Size { Small } namespace Size { export type S = F } export const node: ReactNode = useRef(any);',
  ].join('\n');
  const names = (/** @type {string} */ code, /** @type {string} */ name) =>
    checkFiles([{ path: name, text: code, python: [], actions: null }]).map((line) =>
      line.replace(/\. .*/, ''),
    );

  for (const name of ['lib/a.tsx', 'lib/a.ts', 'lib/a.fxl']) {
    assert.deepEqual(names(types, name), []);
  }
  const values = [
    "import { ReactNode } from 'react';",
    "import { useStat } from 'react'; export const a: ReactNode = useStat(1);",
    "import { type Kind, kid } from 'kit'; export const b: Kind = kid;",
    "import made from '../lib/made'; export const c = made;",
    "import { useRef as useStat2, useState2 as own } from 'react'; own(useStat2);",
    "export { Made } from './made';", // which a bundler does not build
  ].join('\n');
  assert.deepEqual(names(values, 'lib/a.tsx'), [
    "lib/a.tsx:2:10 'react' has no export 'useStat'",
    "lib/a.tsx:3:21 'kit' has no export 'kid'",
    "lib/a.tsx:4:8 '../lib/made' has no default export",
    "lib/a.tsx:5:30 'react' has no export 'useState2'",
    "lib/a.tsx:6:10 './made' has no export 'Made'",
  ]);
  const plain = "export { useStat } from 'react'; import { Made } from './made'; export { Made };";
  assert.deepEqual(names(plain, 'lib/a.jsx'), [
    "lib/a.jsx:1:10 'react' has no export 'useStat'",
    "lib/a.jsx:1:43 './made' has no export 'Made'",
  ]);
});

test('other modules of the framework are not found, with the one there is', () => {
  const text = [
    "import { Head } from 'fx/clinet';",
    "import { Form } from 'fx/Client';",
    "import { Link } from 'fx/router';",
    "import { Link as A } from 'fxtrio/client';",
    'export default [Head, Form, Link, A];',
  ].join('\n');

  assert.deepEqual(check(text), [
    "1:22 'fx/clinet' cannot be found. Did you mean 'fx/client'?",
    "2:22 'fx/Client' cannot be found. Did you mean 'fx/client'?",
    "3:22 'fx/router' cannot be found. The module of the framework is 'fx/client'",
    "4:27 'fxtrio/client' cannot be found. Did you mean 'fx/client'?",
  ]);
});

test('the name of a mistaken import is not offered for others', () => {
  const text = [
    "import { shopLst } from 'fx/client';",
    "import { shopLit } from './shops';",
    'export default [shopLst, shopLit, shopList];',
  ].join('\n');

  const found = check(text).filter((line) => line.includes('undefined'));
  assert.deepEqual(found, [
    "3:35 undefined name 'shopList' in client code. Define or import it; a global of another " +
      "script is 'window.shopList'",
  ]);
});

test('components that pages import are checked too, however far away', () => {
  write(
    'components/card.tsx',
    "import { row } from './row';\nexport const Card = () => <Crd a={row<1>()} />;",
  );
  write('components/row.ts', 'export const row = <T,>() => <any>rows;');
  write('components/old.js', "import './older.jsx'; export default oldGlobal;");
  write('components/older.jsx', 'export default () => <b>{older}</b>;');
  write('components/unused.jsx', 'export default nothing;');
  const text = "import { Card } from '@/components/card';\nimport '../components/old';\nCard();\n";

  const found = check(text).map((line) => line.replace(/ in client code.*/, ''));
  assert.deepEqual(found, [
    "components/card.tsx:2:28 undefined name 'Crd'",
    "components/older.jsx:1:26 undefined name 'older'",
    "components/row.ts:1:35 undefined name 'rows'",
  ]);
});

test('a component in the pages folder that nothing imports may be meant as a page', () => {
  write('site/about.jsx', '\nexport default function About() { return <p />; }');
  write('site/shop/list.tsx', 'export default () => <p />;');
  write('site/shop/used.tsx', 'export default () => <p />;');
  write('site/shop/parts.tsx', 'export const part = 1;');
  write('site/shop/list.test.tsx', 'export default 1;');
  write('site/_parts/list.tsx', 'export default 1;');
  const used = "import Used from './shop/used';\nUsed();\n";
  const file = { path: 'site/index.fxl', text: used, python: [], actions: null };

  assert.deepEqual(checkFiles([file], 'site'), [
    "site/about.jsx:2:1 nothing imports it, and it is not a page. Rename it to 'about.fxl' to " +
      'make it one',
    "site/shop/list.tsx:1:1 nothing imports it, and it is not a page. Rename it to 'list.fxl' to " +
      'make it one',
  ]);
  const pattern = "import.meta.glob('./**/*.jsx');\n";
  assert.deepEqual(checkFiles([{ ...file, text: pattern }], 'site'), []);
});

test('a file that is broken is not looked into further', () => {
  const [found, ...others] = check('const a = ;\nnothing();\n');

  assert.match(found, /^1:11 broken client code: Unexpected token/);
  assert.deepEqual(others, []);
});

test('names are similar when little has to be changed in them', () => {
  assert.equal(similar('Lnik', ['Form', 'Link', 'Line']), 'Link');
  assert.equal(similar('mesage', ['page', 'message']), 'message');
  assert.equal(similar('usestate', ['useState']), 'useState');
  assert.equal(similar('x', ['abc']), undefined);
  assert.equal(similar('data', ['data']), undefined);
});

test('actions that the page lacks, links without a target and private variables are reported', () => {
  const text = [
    "import { Form as F, Link, useAction } from 'fx/client';",
    "const save = (p: any) => [useAction('sav'), useAction('far', { page: '/x' }), useAction(p)];",
    'export default (p: any) => [',
    '  <F action="save" />, <F action="x" />, <F action="far" page="/x" />, <F {...p} />,',
    '  <F action={add} />, <form action="x" />,',
    '  <Link to="/" />, <Link>x</Link>, <Link href="/" />, <Link {...p} />,',
    '  process.env.KEY, process.env.NODE_ENV, save,',
    '];',
  ].join('\n');

  assert.deepEqual(check(text, ['add', 'save'], ['add', 'save']), [
    "2:37 this page has no action 'sav'. Did you mean 'save'?",
    "4:34 this page has no action 'x'. It has add, save",
    "6:9 <Link> has no href. Write 'href' in place of 'to'",
    '6:20 <Link> has no href. Write <Link href="/path">',
    "7:3 browsers have no 'process.env.KEY'. Return it from the loader; public values are " +
      'import.meta.env.FX_PUBLIC_…',
    "5:14 undefined name 'add' in client code. Write its name as text: 'add'",
  ]);
  assert.deepEqual(check("if (typeof process === 'object') process.env.KEY;\n"), []);
});

test('streams that the page lacks are reported, and actions called with options', () => {
  const text = [
    "import { useAction, useStream } from 'fx/client';",
    "export default (p: any) => [useStream('bel'), useStream('x'), useStream('bell', { limit: 3 }),",
    "  useStream('far', { page: '/x' }), useStream('y', { limit: 3 }), useStream(p),",
    "  useStream('z', p), useStream('z', { ...p }), useStream('z', { [p]: 1 }),",
    "  useAction('sav', { throws: true }), useAction('far', { 'page': '/x' }), useAction('z', p)];",
  ].join('\n');
  const file = { path: 'pages/index.fxl', text, python: [], actions: ['save'] };

  assert.deepEqual(checkFiles([{ ...file, streams: ['bell', 'news'] }]), [
    "2:39 this page has no stream 'bel'. Did you mean 'bell'?",
    "2:57 this page has no stream 'x'. It has bell, news",
    "3:47 this page has no stream 'y'. It has bell, news",
    "5:13 this page has no action 'sav'. Did you mean 'save'?",
  ]);
  const [none] = checkFiles([{ ...file, streams: [] }]);
  assert.equal(none, "2:39 this page has no stream 'bel'. Define it with @stream");
  assert.equal(checkFiles([{ ...file, streams: null, actions: null }]).length, 0);
});

test('words of other languages are recognised', () => {
  const page = (/** @type {string} */ code) => check(`export default () => ${code};\n`)[0];

  assert.match(page('<p>{True}</p>'), /Write true$/);
  assert.match(page('<ul>{% for x in y %}</ul>'), /There are no template tags/);
  assert.match(page('{\n  # a comment\n  return 1 }'), /A comment begins with '\/\/'/);
});

test('a name that is declared twice is named where the bundler names it', () => {
  const twice = /^1:\d.*Size. has already been declared. Give one of the two another name/;

  assert.match(check('enum Size { A }\ninterface Size { b: string }\n')[0], twice);
  assert.match(check('const Size = 1, Size = 2;\n')[0], twice);
});
