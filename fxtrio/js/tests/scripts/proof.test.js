/** Which views of a project need no scripts: all modules that they import are looked at. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LINK, prove } from './proving.js';

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

/** Where a package gives servers other code than browsers, by its file. */
const DIVIDED = {
  'a folder of a package': {
    'node_modules/a/package.json': '{}',
    'node_modules/a/index.js': "export * from './part/s.js';",
    'node_modules/a/part/s.js': 'export const a = 1;',
    'node_modules/a/part/package.json': '{ "main": "./s.js", "browser": "./b.js" }',
  },
  'a package whose folder has a package.json': {
    'node_modules/a/package.json':
      '{ "exports": { ".": [{ "node": "./n.js" }, "./esm/index.js"] } }',
    'node_modules/a/index.js': "export * from './esm/index.js';",
    'node_modules/a/esm/index.js': 'export const a = 1;',
    'node_modules/a/esm/package.json': '{ "name": "a-esm", "type": "module" }',
  },
  'a workspace, which a link leads to': {
    'node_modules/a/index.js': "export * from '../../packages/a/index.js';",
    'packages/a/index.js': 'export const a = 1;',
    'packages/a/package.json': '{ "exports": { "browser": "./b.js", "default": "./index.js" } }',
  },
  'a workspace in which a folder has a name': {
    'node_modules/a': `${LINK}../packages/a`,
    'packages/a/index.js': `${LINK}esm/index.js`, // as the package.json may name it
    'packages/a/package.json': '{ "name": "a", "browser": { "./esm/index.js": "./b.js" } }',
    'packages/a/esm/index.js': 'export const a = 1;',
    'packages/a/esm/package.json': '{ "name": "a-esm", "type": "module" }',
  },
  'a name of the project itself': {
    'node_modules/a/index.js': 'export const a = 1;',
    'node_modules/#a/index.js': 'export const a = 1;',
    'package.json': '{ "imports": { "#a": { "browser": "./b.js", "default": "a" } } }',
    'pages/index.fxl': "import { a } from '#a';\nexport default () => <p>{a}</p>;",
  },
  'modules that the project replaces in browsers': {
    'node_modules/a/index.js': 'export const a = 1;',
    'package.json': '{ "browser": { "other": "a" } }',
  },
  'a package.json that cannot be read': {
    'node_modules/a/index.js': 'export const a = 1;',
    'node_modules/a/package.json': '{ "exports": ',
  },
  'a package.json that is a folder': {
    'node_modules/a/index.js': 'export const a = 1;',
    'node_modules/a/package.json/b.js': '',
  },
};

const PAGE_OF_A_PACKAGE = "import { a } from 'a';\nexport default () => <p>{a}</p>;";

for (const [name, files] of Object.entries(DIVIDED)) {
  test(`other code for servers than for browsers is a reason: ${name}`, async () => {
    const project = { 'pages/index.fxl': PAGE_OF_A_PACKAGE, ...files };

    const [found] = await prove(project, ['pages/index.fxl']);

    assert.match(found?.join('\n') ?? '', /an import of '/);
  });
}

/** What a package.json may have without such code, by its file. */
const UNDIVIDED = {
  'versions of programs': {
    'package.json': '{ "engines": { "node": ">=20" }, "volta": { "node": "20.1.0" } }',
    'node_modules/a/package.json': '{ "engines": { "node": ">=20" } }',
  },
  scripts: { 'package.json': '{ "scripts": { "worker": "node worker.js", "browser": "b" } }' },
  'names of files': { 'node_modules/a/package.json': '{ "exports": { "./node": "./node.js" } }' },
  'names that the page does not import': {
    'package.json': '{ "imports": { "#b": { "node": "./n.js", "default": "./b.js" } } }',
  },
  'a stray file above the project': {
    '../package.json': '{ "browser": "./b.js", "exports": { "node": "./n.js" } }',
    'package.json': '{}',
  },
  'a stray file above a workspace': {
    'node_modules/a/index.js': "export * from '../../packages/a/index.js';",
    'packages/package.json': '{ "browser": "./b.js" }',
    'packages/a/index.js': 'export const a = 1;',
    'packages/a/package.json': '{ "name": "a" }',
  },
};

for (const [name, files] of Object.entries(UNDIVIDED)) {
  test(`a package.json is no reason because of ${name}`, async () => {
    const library = { 'node_modules/a/index.js': 'export const a = 1;' };
    const project = { 'pages/index.fxl': PAGE_OF_A_PACKAGE, ...library, ...files };

    assert.deepEqual(await prove(project, ['pages/index.fxl']), [[]]);
  });
}

test("React's renderer is a reason", async () => {
  const page =
    "import { preload } from 'react-dom';\nexport default () => { preload('/a.js', { as: 'script' }); return null; };";

  assert.deepEqual(await prove({ 'pages/index.fxl': page }, ['pages/index.fxl']), [
    ["pages/index.fxl:1: an import of 'react-dom'"],
  ]);
});

/** A component whose name and text are others in browsers. */
const ICON = 'function Icon() { return <i>1</i>; }';

/** What reads its text in another module than the one that has its element, by file. */
const READ_ELSEWHERE = {
  'an attribute': {
    page: `import { Box } from '../b.jsx';\n${ICON}\nexport default () => <Box icon={<Icon />} />;`,
    'b.jsx': 'export function Box({ icon }) { return <b>{`${icon.type}`}</b>; }',
  },
  'an attribute in a pattern': {
    page: `import { Box } from '../b.jsx';\n${ICON}\nexport default () => <Box icon={<Icon />} />;`,
    'b.jsx': 'export function Box({ icon: { type } }) { return <b>{String(type)}</b>; }',
  },
  'an attribute that is passed to a third module': {
    page: `import { Box } from '../b.jsx';\n${ICON}\nexport default () => <Box icon={<Icon />} />;`,
    'b.jsx':
      "import { label } from './a.js';\nexport function Box(props) { return <b>{label(props.icon.type)}</b>; }",
    'a.js': 'export function label(kind) { return kind.name; }',
  },
  'an argument': {
    page: `import text from '../a.js';\n${ICON}\nexport default () => <b>{text(<Icon />)}</b>;`,
    'a.js': 'export default function (node) { return String(node.type); }',
  },
  'an export': {
    page: "import { icon } from '../a.jsx';\nexport default () => <b>{String(icon.type)}</b>;",
    'a.jsx': `${ICON}\nexport const icon = <Icon />;`,
  },
  'an export under another name': {
    page: "import { icon } from '../b.jsx';\nexport default () => <b>{String(icon.type)}</b>;",
    'b.jsx': "export { one as icon } from './a.jsx';",
    'a.jsx': `${ICON}\nexport const one = <Icon />;`,
  },
  'a list': {
    page: "import { all } from '../a.jsx';\nexport default () => <b>{all.map((one) => String(one.type))}</b>;",
    'a.jsx': `${ICON}\nexport const all = [<Icon key="a" />];`,
  },
  'rows of a list': {
    page: "import { rows } from '../a.jsx';\nexport default () => <b>{rows.map(({ icon }) => String(icon.type))}</b>;",
    'a.jsx': `${ICON}\nexport const rows = [{ icon: <Icon /> }];`,
  },
  'what a function returns': {
    page: "import { make } from '../a.jsx';\nexport default () => <b>{String(make().type)}</b>;",
    'a.jsx': `${ICON}\nexport function make() { const one = <Icon />; return one; }`,
  },
  'all of an export': {
    page: "import { icon } from '../a.jsx';\nexport default () => <b>{Object.values(icon).map((one) => String(one))}</b>;",
    'a.jsx': `${ICON}\nexport const icon = <Icon />;`,
  },
  'a component of memo': {
    page: "import { A } from '../a.jsx';\nexport default () => <b>{String(A.type)}</b>;",
    'a.jsx':
      "import { memo } from 'react';\nexport const A = memo(function Inner() { return <i />; });",
  },
  'a context': {
    page: `import { createContext, useContext } from 'react';\nconst C = createContext(null);\n${ICON}\nfunction Use() { const it = useContext(C); return <b>{String(it.type)}</b>; }\nexport default () => <C.Provider value={<Icon />}><Use /></C.Provider>;`,
  },
  'children among other attributes': {
    page: `import { Box } from '../b.jsx';\n${ICON}\nexport default () => <Box><Icon /></Box>;`,
    'b.jsx':
      'export function Box({ ...rest }) { const { children } = rest; const { type } = children; return <b>{`${type}`}</b>; }',
  },
};

for (const [what, { page, ...others }] of Object.entries(READ_ELSEWHERE)) {
  test(`the text of a component is read of ${what}`, async () => {
    const [reasons] = await prove({ 'pages/index.fxl': page, ...others }, ['pages/index.fxl']);

    assert.notDeepEqual(reasons, []);
  });
}

test('a type of data is read like any other value', async () => {
  const page =
    "import { Row } from '../a.jsx';\nconst icon = <i />;\nexport default ({ data }) => <ul>{data.rows.map((row) => <Row key={row.id} row={row} icon={icon} />)}</ul>;";
  const row =
    'export function Row({ row, icon }) { return <li className={`of-${row.type}`}>{icon}</li>; }';
  const [reasons] = await prove({ 'pages/index.fxl': page, 'a.jsx': row }, ['pages/index.fxl']);

  assert.deepEqual(reasons, []);
});
