/** Which views of a project need no scripts: all modules that they import are looked at. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { prove } from './proving.js';

const HELLO = 'export default () => <h1>Hello</h1>;';

test('a page in a layout of plain HTML needs none', async () => {
  const layout = 'export default ({ children }) => <main>{children}</main>;';

  const found = await prove({ 'pages/index.fxl': HELLO, 'pages/layout.fxl': layout }, [
    'pages/index.fxl',
    'pages/layout.fxl',
  ]);

  assert.deepEqual(found, [[]]);
});

test('a reason in a layout is one of each page in it', async () => {
  const layout =
    'export default ({ children }) =>\n  <main onClick={go}>{children}</main>;\nfunction go() {}';
  const files = { 'pages/index.fxl': HELLO, 'pages/about.fxl': HELLO, 'pages/layout.fxl': layout };

  const found = await prove(files, ['pages/index.fxl', 'pages/layout.fxl'], ['pages/about.fxl']);

  assert.deepEqual(found, [['pages/layout.fxl:2: onClick'], []]);
});

test('modules are followed as far as they lead, in circles too', async () => {
  const files = {
    'pages/index.fxl': "import { A } from '../ui/a.jsx';\nexport default () => <A />;",
    'ui/a.jsx': "import { B } from './b.jsx';\nexport const A = () => <B />;\nexport const C = 1;",
    'ui/b.jsx': "import { C } from './a.jsx';\nimport './c.js';\nexport const B = () => C;",
    'ui/c.js': "document.title = 'c';",
  };

  const [found] = await prove(files, ['pages/index.fxl']);

  assert.deepEqual(found, [
    'ui/c.js:1: code that runs when the module is loaded',
    'ui/c.js:1: a change of an object that other renders may see',
    'ui/c.js:1: document',
  ]);
});

test('what an imported name is decides what it may get', async () => {
  const page =
    "import { Card } from '../ui/all.js';\nexport default (props) => <Card {...props} />;";
  const files = {
    'pages/card.fxl': page,
    'ui/all.js': "export * from './cards.jsx';",
    'ui/cards.jsx': "export { default as Card } from './card.jsx';",
    'ui/card.jsx': 'export default function Card({ data }) { return <p>{data.text}</p>; }',
  };

  const component = await prove(files, ['pages/card.fxl']);
  const text = await prove({ ...files, 'ui/card.jsx': "export default 'button';" }, [
    'pages/card.fxl',
  ]);

  assert.deepEqual(component, [[]]);
  assert.deepEqual(text, [['pages/card.fxl:2: <Card> is only known when it is rendered']]);
});

test('files without code are nothing to look at, and others are a reason', async () => {
  const page = [
    "import './page.css';",
    "import logo from './logo.svg';",
    "import text from './text.txt?raw';",
    "import Start from './start.js?worker';",
    "import doc from './text.mdx';",
    'export default () => <img src={logo} alt={text} title={doc} lang={Start} />;',
  ];

  const [found] = await prove({ 'pages/index.fxl': page.join('\n') }, ['pages/index.fxl']);

  assert.deepEqual(found, [
    "pages/index.fxl:4: an import of './start.js?worker'",
    "pages/index.fxl:5: an import of './text.mdx'",
  ]);
});

test('packages are looked at like modules, if they give servers and browsers the same code', async () => {
  const page = "import { a } from 'a';\nexport default () => <p>{a()}</p>;";
  const files = {
    'pages/index.fxl': page,
    'node_modules/a/index.js': 'export const a = () => 1;',
    'node_modules/a/package.json': '{ "exports": "./index.js" }',
  };
  const divided = { ...files, 'node_modules/a/package.json': '{ "browser": "./index.js" }' };
  const impure = { ...files, 'node_modules/a/index.js': 'export const a = () => screen.width;' };

  assert.deepEqual(await prove(files, ['pages/index.fxl']), [[]]);
  assert.deepEqual(await prove(divided, ['pages/index.fxl']), [
    ["pages/index.fxl:1: an import of 'a'"],
  ]);
  assert.deepEqual(await prove(impure, ['pages/index.fxl']), [
    ['node_modules/a/index.js:1: screen'],
  ]);
});

test("React's renderer is a reason", async () => {
  const page =
    "import { preload } from 'react-dom';\nexport default () => { preload('/a.js', { as: 'script' }); return null; };";

  assert.deepEqual(await prove({ 'pages/index.fxl': page }, ['pages/index.fxl']), [
    ["pages/index.fxl:1: an import of 'react-dom'"],
  ]);
});
