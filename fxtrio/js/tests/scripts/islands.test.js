/** Islands: pages around them need no scripts, and what cannot be an island is told with its place. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadTools, lookAt } from '../../check/checker.js';
import { prove, provedOf, toolchain } from './proving.js';

const tools = await loadTools(toolchain);

const COUNTER =
  "import { useState } from 'react';\n" +
  'export default function Counter({ start }) {\n' +
  '  const [n, set] = useState(start);\n  return <button onClick={() => set(n + 1)}>{n}</button>;\n}';

/** @param {string} body of the page, in which `Counter` is imported */
function pageOf(body) {
  return (
    "import { Island } from 'fx/client';\nimport Counter from '../ui/counter.jsx';\n" +
    `export default ({ data }) => <main>${body}</main>;`
  );
}

/** @param {string} body */
async function reasonsOf(body) {
  const [found] = await prove({ 'pages/index.fxl': pageOf(body), 'ui/counter.jsx': COUNTER }, [
    'pages/index.fxl',
  ]);
  return found;
}

test('a page needs no scripts for what only its islands show', async () => {
  const files = {
    'pages/index.fxl': pageOf(
      '<Island when="visible"><Counter start={data.a} /></Island>{data.all.map((one) => ' +
        '<Island key={one.id} as="p"><Counter start={one.id}></Counter></Island>)}',
    ),
    'ui/counter.jsx': COUNTER,
  };

  const [{ reasons, islands, mistakes, doubts }] = await provedOf(files, ['pages/index.fxl']);

  assert.deepEqual({ reasons, mistakes, doubts }, { reasons: [], mistakes: [], doubts: [] });
  assert.deepEqual(
    islands.map(({ path, line, name, when }) => ({ path, line, name, when })),
    ['visible', 'load'].map((when) => ({
      ...{ path: 'pages/index.fxl', line: 3, name: 'default', when },
    })),
  );
});

test('an island may have another name, and be one of a namespace', async () => {
  for (const [imported, tag] of [
    ['{ Island as Lazy }', 'Lazy'],
    ['* as fx', 'fx.Island'],
  ]) {
    const page =
      `import ${imported} from 'fx/client';\nimport Counter from '../ui/counter.jsx';\n` +
      `export default () => <${tag}><Counter /></${tag}>;`;
    const [{ reasons, islands }] = await provedOf(
      { 'pages/index.fxl': page, 'ui/counter.jsx': COUNTER },
      ['pages/index.fxl'],
    );
    assert.deepEqual({ reasons, count: islands.length }, { reasons: [], count: 1 }, tag);
  }
});

test('code that could show the component of an island outside of it needs scripts', async () => {
  const box = (/** @type {string} */ body) =>
    `function Box({ children, ...rest }) { ${body} }\n${pageOf('<Box><Island><Counter /></Island></Box>')}`;
  for (const body of [
    'return <p>{children.props.children}</p>',
    'const { props } = children; return <p>{props.children}</p>',
    'const { props: { children: inner } } = children; return <p>{inner}</p>',
    "return <p>{children['props'].children}</p>",
    "const { ['props']: own } = children; return <p>{own.children}</p>",
    'const { type, ...own } = children; return <p>{own.props.children}</p>',
    'return <p>{{ ...children }.props?.children}</p>',
    'return <p>{Object.values(children).map((one) => one?.children)}</p>',
    'return <p>{[children].flatMap(Object.values).map((one) => one?.children)}</p>',
    'return <p>{Object.entries(children).map(([, one]) => one?.children)}</p>',
    'let own; JSON.stringify(children, (_, one) => { own ??= one.children; return 1; }); return own',
    'let own; JSON.stringify(...[children, (_, one) => { own = one; return 1; }]); return own',
    'return <p>{Children.map(children, (one) => one.props.children)}</p>',
  ]) {
    const text = `import { Children } from 'react';\n${box(body)}`;
    const files = { 'pages/index.fxl': text, 'ui/counter.jsx': COUNTER };
    const [found] = await prove(files, ['pages/index.fxl']);
    assert.match(found.join(), /could take an <Island> apart/, body);
  }
});

test('pages without islands may read the properties of elements', async () => {
  const text =
    'const Box = ({ children }) => <p>{children.props.title}</p>;\n' +
    'export default () => <Box><b title="a" /></Box>;';
  const [found] = await prove({ 'pages/index.fxl': text }, ['pages/index.fxl']);

  assert.deepEqual(found, []);
});

test('what is shown outside of islands, too, needs its scripts', async () => {
  const [both, exported] = await prove(
    {
      'pages/a.fxl': pageOf('<Island><Counter /></Island><Counter />'),
      'pages/b.fxl':
        pageOf('<Island><Counter /></Island>') + "\nexport * from '../ui/counter.jsx';",
      'ui/counter.jsx': COUNTER,
    },
    ['pages/a.fxl'],
    ['pages/b.fxl'],
  );

  for (const found of [both, exported]) {
    assert.ok(found.includes('ui/counter.jsx:4: onClick'), found.join('\n'));
  }
});

const UNKNOWN = 'pages/index.fxl:3: an <Island> whose component or element is unknown';

for (const [body, expected] of /** @type {[string, string][]} */ ([
  ['<Island><button>{data.n}</button></Island>', UNKNOWN],
  ['<Island>{data.a ? <Counter /> : null}</Island>', UNKNOWN],
  ['<Island><Counter /><Counter /></Island>', UNKNOWN],
  ['<Island as={data.tag}><Counter /></Island>', UNKNOWN],
  ['<Island>{[1].map((Counter) => <Counter key="a" />)}</Island>', UNKNOWN],
  ['<Island><Counter run={() => 1} /></Island>', 'pages/index.fxl:3: a function that is passed on'],
  ['<Island ref={data.ref}><Counter /></Island>', 'pages/index.fxl:3: ref'],
  ['<p><Island as="div"><Counter /></Island></p>', '<div> in <p>, which browsers rearrange'],
  [
    '<table><tbody><Island><Counter /></Island></tbody></table>',
    '<fx-island> in <tbody>, which browsers rearrange',
  ],
])) {
  test(`${body} is a reason`, async () => {
    const found = await reasonsOf(body);
    assert.ok(
      found.some((one) => one.endsWith(expected)),
      found.join('\n'),
    );
  });
}

test('code of islands that asks for the page is a mistake, and for contexts of it a doubt', async () => {
  const files = {
    'pages/index.fxl':
      "import { Island } from 'fx/client';\nimport Counter from '../ui/counter.jsx';\n" +
      "import { Other, Theme } from '../ui/theme.js';\nexport default () =>\n" +
      '  <Theme value="dark"><Other.Provider value="b"><Island><Counter /></Island></Other.Provider></Theme>;',
    'ui/theme.js':
      "import { createContext } from 'react';\nexport const Theme = createContext('light');\n" +
      "export const Other = createContext('a');\n",
    'ui/counter.jsx':
      "import { useData } from 'fx/client';\nimport { useContext } from 'react';\n" +
      "import { Other, Theme } from './theme.js';\nimport { Inner } from './inner.jsx';\n" +
      'export default () => <Other value="c">{useContext(Theme)}{useData().a}<Inner /></Other>;',
    'ui/inner.jsx':
      "import { useContext } from 'react';\nimport { Other as O } from './theme.js';\n" +
      'export const Inner = () => <b>{useContext(O)}</b>;',
  };

  const [{ reasons, mistakes, doubts }] = await provedOf(files, ['pages/index.fxl']);

  assert.deepEqual(reasons, []);
  assert.deepEqual(
    mistakes.map((one) => `${one.path}:${one.line}: ${one.message}`),
    ["ui/counter.jsx:1: 'useData' works only in a page, not in the <Island> of pages/index.fxl:5"],
  );
  assert.deepEqual(
    doubts.map((one) => `${one.path}:${one.line}: ${one.message}`),
    [
      "ui/counter.jsx:5: 'Theme' has its default value here: pages/index.fxl:5 is outside of the <Island> of pages/index.fxl:5, which is a separate tree",
    ],
  );
});

/** @param {string} body */
function mistakesIn(body) {
  const file = { path: 'pages/index.fxl', text: pageOf(body), python: [], actions: [] };
  const { problems } = lookAt(tools, toolchain, new Set(), file);
  return problems
    .filter(({ line, message }) => line === 3 && !message.startsWith('undefined'))
    .map(({ message, remedy, certain }) => [`${message}. ${remedy}`, certain]);
}

for (const [body, expected] of /** @type {[string, RegExp][]} */ ([
  ['<Island />', /has one component as its child/],
  ['<Island>{data.n}</Island>', /has one component as its child/],
  [
    '<Island><p>a</p></Island>',
    /<p> in an <Island> is not imported from a file\. Write it in a separate file/,
  ],
  ['<Island><Own /></Island>', /<Own> in an <Island> is not imported/],
  ['<Island><Island.Counter /></Island>', /<Island\.Counter> in an <Island> is not imported/],
  ['<Island when="click"><Counter /></Island>', /no when="click"\. Write "load", "idle" or/],
  [
    '<Island><Counter run={() => 1} /></Island>',
    /property 'run' .* is a function, which is not JSON/,
  ],
  [
    '<Island><Counter icon={<b />} /></Island>',
    /property 'icon' .* is an element, which is not JSON/,
  ],
  ['<Island><Counter><b /></Counter></Island>', /gets an element as its child, which is not JSON/],
  ['<Island><Counter>{() => 1}</Counter></Island>', /gets a function as its child/],
  [
    '<table><tbody>{data.all.map((one) => <Island key={one}><Counter /></Island>)}</tbody></table>',
    /<fx-island> in <tbody>, which browsers rearrange\. Write <Island as="tr">/,
  ],
])) {
  test(`${body} is a mistake`, () => {
    const [[message, certain], ...more] = mistakesIn(body);
    assert.match(String(message), expected);
    assert.equal(certain, true);
    assert.deepEqual(more, []);
  });
}

test('what can be an island is none', () => {
  const right =
    '<Island when={data.when} className="a">{/* it counts */}<Counter {...data} start={1}>More</Counter></Island>' +
    '<table><tbody><tr><Island as="td"><Counter /></Island></tr></tbody></table>';

  assert.deepEqual(mistakesIn(right), []);
});
