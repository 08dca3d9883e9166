/** Functions and elements that code reaches on a detour: through elements, modules as a whole and names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { prove } from './proving.js';

const CARD = 'function Card() { return null; }';

const ROW_OF_CHILDREN = 'function Row({ children }) { return <p>{children.name}</p>; }';

/** @param {string} body @param {string} [before] */
function page(body, before = CARD) {
  return `${before}\nexport default function Page({ data, children }) { ${body} }`;
}

/** @param {string} text @param {Record<string, string>} [others] */
async function reasonsOf(text, others = {}) {
  const [found] = await prove({ 'pages/index.fxl': text, ...others }, ['pages/index.fxl']);
  return found;
}

const TYPES = [
  page('const { type } = <Card />; return <p>{type.name}</p>;'),
  page('const { type } = <Card />; return <p>{`${type}`}</p>;'),
  page('const { type: { name } } = <Card />; return <p>{name}</p>;'),
  page('const { type: T } = children; return <p>{T.name}</p>;'),
  page('const { type = 1 } = children; return <p>{type + "a"}</p>;'),
  page('const { key, ...rest } = <Card />; return <p>{`${rest.type}`}</p>;'),
  page('const t = children.type; return <p>{t.name}</p>;'),
  page('const t = children.type; return <p>{`${t}`}</p>;'),
  page('const el = <Card />; return <p>{String(el.type)}</p>;'),
  page('const el = data.a ? <Card /> : null; return <p>{[el.type].join()}</p>;'),
  page('return <p>{`${children["type"]}`}</p>;'),
  page('return <p>{children["type"].name}</p>;'),
  page('const all = { ...children }; return <p>{`${all.type}`}</p>;'),
  page('return <p>{Object.values(children).map((one) => one?.name)}</p>;'),
  page('return <p>{Object.entries(<Card />).map(([key, one]) => `${one}`)}</p>;'),
  page('return <p>{[<Card />].map((one) => String(one.type))}</p>;'),
  page('return <p>{[<Card />].map(({ type }) => String(type))}</p>;'),
  page('let t = ""; for (const one of [<Card />]) t += `${one.type}`; return <p>{t}</p>;'),
  page('return <p>{f(<Card />)}</p>;', `${CARD} const f = (one) => \`\${one.type}\`;`),
  page('return <p>{f(<Card />)}</p>;', `${CARD} const f = ({ type: { name } }) => name;`),
  page(
    'return <Row icon={<Card />} />;',
    `${CARD} function Row({ icon }) { return <p>{\`\${icon.type}\`}</p>; }`,
  ),
  page(
    'return <Row t={children.type} />;',
    `${CARD} function Row({ t }) { return <p>{t.name}</p>; }`,
  ),
  page('const { type } = <Card />; return <Row>{type}</Row>;', `${CARD} ${ROW_OF_CHILDREN}`),
  page('const l = []; l.push(<Card />); return <p>{String(l[0].type)}</p>;'),
  page('const l = []; l.push(<Card />); return <p>{l.map((one) => `${one.type}`)}</p>;'),
  page('const l = []; l[0] = <Card />; return <p>{String(l[0].type)}</p>;'),
  page('const l = []; [l[0]] = [<Card />]; return <p>{String(l[0].type)}</p>;'),
  page('const o = {}; ({ a: o.b = 1 } = { a: <Card /> }); return <p>{String(o.b.type)}</p>;'),
  page('const o = {}; for (o.b of [<Card />]); return <p>{String(o.b.type)}</p>;'),
  page('const l = []; const m = l; m.push(<Card />); return <p>{String(l[0].type)}</p>;'),
  page('const m = new Map(); m.set(1, 2).set(3, <Card />); return <p>{`${m.get(3).type}`}</p>;'),
  page('const o = { l: [] }; o.l["push"](children); return <p>{String(o.l[0].type)}</p>;'),
  page('const o = {}; o.icon = <Card />; return <p>{String(o.icon.type)}</p>;'),
  page('const m = new Map([["a", <Card />]]); return <p>{String(m.get("a").type)}</p>;'),
  page('const m = new Map(); m.set("a", <Card />); return <p>{String(m.get("a").type)}</p>;'),
  page('return <p>{[...new Set([<Card />])].map((one) => String(one.type))}</p>;'),
  'export default (props) => <p>{Object.values(props).map((one) => `${one.type}`)}</p>;',
  'export const A = ({ a, ...b }) => <p>{Object.entries({ ...b }).map(([, one]) => `${one.type}`)}</p>;',
  "import { memo } from 'react';\nexport default memo((all) => { const { a, ...b } = all; return <p>{f(b)}</p>; });\nconst f = (all) => Object.values(all).map((one) => `${one.type}`);",
  `import { Children } from 'react';\n${page('return Children.map(children, (one) => `${one.type}`);')}`,
];

test('the type of an element is a component, whose name and text nobody may read', async () => {
  const found = await Promise.all(TYPES.map((text) => reasonsOf(text)));

  assert.deepEqual(
    TYPES.filter((_, index) => found[index].length === 0),
    [],
  );
});

test('what is put into an object of another module may be an element', async () => {
  const box = { 'ui/box.jsx': 'export const Box = ({ all }) => <p>{`${all.icon.type}`}</p>;' };
  const list = { 'ui/box.jsx': 'export const Box = ({ all }) => <p>{`${all.icons[0].type}`}</p>;' };
  const iconFile = (/** @type {string} */ declared) => ({ 'ui/icon.jsx': `${CARD}\n${declared}` });
  const put = (/** @type {string} */ code) =>
    page(`const all = { icons: [] }; ${code}; return <Box all={all} />;`, `${CARD}\n${BOX}`);
  const BOX = "import { Box } from '../ui/box.jsx';";
  const ICON =
    "import { icon } from '../ui/icon.jsx';\nexport default () => <p>{`${icon.type}`}</p>;";

  const found = await Promise.all([
    reasonsOf(put('all.icon = <Card />'), box),
    reasonsOf(put('all["icon"] = <Card />'), box),
    reasonsOf(put('[all.icon] = [<Card />]'), box),
    reasonsOf(put('all.icons.push(<Card />)'), list),
    reasonsOf(ICON, iconFile('export const [icon] = [<Card />];')),
    reasonsOf(ICON, iconFile('export const { a: icon } = { a: <Card /> };')),
    reasonsOf(ICON.replace('icon.type', 'icon.get(1).type'), {
      ...iconFile('export const icon = new Map([[1, <Card />]]);'),
    }),
  ]);

  assert.deepEqual(
    found.map((reasons) => reasons.length > 0),
    found.map(() => true),
  );
});

const PLAIN = [
  page('const l = []; l.push(data.text); return <p>{l.map((one) => `${one.type}`)}</p>;'),
  page('const a = {}; const b = { a }; a.b = b; b.c = a; return <p>{`${a.b.type}`}</p>;'),
  page('const o = {}; const l = []; [o.b] = [1]; l.push({ a: o.b }); return <p>{`${o.type}`}</p>;'),
  page('const m = new Map([[1, data.a]]); m.set(2, data.b); return <p>{`${m.get(1).type}`}</p>;'),
  'const sum = (all) => Object.values(all).join();\nexport default ({ data }) => <p>{sum(data)}{Object.values(data.a)}</p>;',
  'export default (props) => { const { data } = props; return <p>{Object.values(data).join()}{`${props.type}`}</p>; };',
  page(
    'return <p className={`a-${data.type}`}>{data.items.map((one) => <b key={one.type} className={`b-${one.type}`}>{label(one.type)}</b>)}</p>;',
    'const label = (type) => type.toUpperCase();',
  ),
  page('const { type, text } = data; return <p className={`a-${type}`}>{text}</p>;'),
  page(
    'return <div>{data.items.map((one) => <Row key={one.id} {...one} />)}{children}</div>;',
    'function Row({ type, text }) { return <p className={`row ${type}`}>{text}</p>; }',
  ),
  page('return <p>{children.type === "p" ? 1 : 2}</p>;'),
  page('const { type } = children; return <p title={type}>{children.type}</p>;'),
  page('return data.all.map((one) => <Row key={one.id} type={one.type} />);', ROW_OF_CHILDREN),
  page(
    'return <p>{Object.entries(data.groups).map(([key, one]) => <b key={key}>{one.name}</b>)}</p>;',
  ),
  page('return <p>{[...data.items].map((one) => `${one.type}`)}</p>;'),
];

test('the type of something else is a text like any other', async () => {
  assert.deepEqual(
    await Promise.all(PLAIN.map((text) => reasonsOf(text))),
    PLAIN.map(() => []),
  );
});

test('a module as a whole is a way to its functions', async () => {
  const all = "import * as all from '../ui/f.js';\n";
  const module = {
    'ui/f.js': 'export function f() { return 1; }\nexport const Card = () => <b />;',
  };
  const passed = { ...module, 'ui/g.js': "export * as all from './f.js';" };
  const named = "import { all } from '../ui/g.js';\n";

  const found = await Promise.all([
    reasonsOf(`${all}export default () => <p>{all.f.name}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{\`\${all.f}\`}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{\`\${all["f"]}\`}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{all["f"]["name"]}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{String(all.f)}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{Object.values(all).join()}</p>;`, module),
    reasonsOf(`${all}export default () => <p>{\`\${{ ...all }.f}\`}</p>;`, module),
    reasonsOf(`${all}const { f } = all;\nexport default () => <p>{f.name}</p>;`, module),
    reasonsOf(`${named}export default () => <p>{all.f.name}</p>;`, passed),
    reasonsOf(`${all}export default () => <p>{all.f(1)}<all.Card /></p>;`, module),
  ]);

  assert.deepEqual(
    found.map((reasons) => reasons.at(-1)?.replace(/^.*?: /, '')),
    [
      'the text of f',
      'the text of f',
      'the text of f',
      'the text of f',
      'a function that is passed on',
      "all of '../ui/f.js'",
      "all of '../ui/f.js'",
      "all of '../ui/f.js'",
      "all of './f.js'",
      undefined,
    ],
  );
});

const ROW = '<tr key={row}><td>{row}</td></tr>';

test('rows that a name or a function brings into a table are found', async () => {
  const wrong = [
    page(`const rows = data.rows.map((row) => ${ROW}); return <table>{rows}</table>;`),
    page(`return <table>{rows(data)}</table>;`, `const rows = (d) => d.rows.map((row) => ${ROW});`),
    page('return <table>{children}</table>;'),
    page('return <table children={data.rows} />;'),
    page(`const body = data.a && <tbody>{children}</tbody>; return <table>{body}</table>;`),
    ...[
      'data.items.length && <tr />',
      '(data.n && data.m > 1) && <tr />',
      'data.a ? data.text : <tr />',
      'data.none || data.text',
      'String(data.text)',
      'data.lines.join()',
      'data.lines.map((one) => one)',
      '(data.a > 1 ? data.b : true) && <tr />',
      'count(data) && <tr />',
      'data.lines.length',
      'name && <tr />',
      '<><tr />{data.text}</>',
    ].map((value) =>
      page(
        `const name = data.name; return <table><tbody>{${value}}</tbody></table>;`,
        'const count = (data) => data.n;',
      ),
    ),
    page(
      'return <table><tbody>{all.includes(data.a) && <tr />}</tbody></table>;',
      'const all = { includes: (one) => one };',
    ),
    page('const cells = <td>{data.text}</td>; return <table><tbody>{cells}</tbody></table>;'),
  ];
  const right = [
    page(
      `const rows = data.rows.map((row) => ${ROW}); return <table><tbody>{rows}</tbody></table>;`,
    ),
    page(`const body = data.a > 0 && <tbody />; return <table>{body}</table>;`),
    ...[
      '!data.a && <tr />',
      'data.items.length > 0 && data.b !== null && <tr />',
      '(data.a === 1 || isOpen) && <tr />',
      'data.a ? <tr /> : null',
      'data.lines.includes("a") && <tr />',
      'Array.isArray(data.a) && <tr />',
      'data.a ? "" : undefined',
    ].map((value) =>
      page(`const isOpen = data.n > 1; return <table><tbody>{${value}}</tbody></table>;`),
    ),
    page(
      `return <table>{/* none */}{data.rows.map((row) => { const a = 1; return <tbody key={a}>${ROW}</tbody>; })}{null}</table>;`,
    ),
  ];

  const found = await Promise.all([...wrong, ...right].map((text) => reasonsOf(text)));

  assert.deepEqual(
    found.map((reasons) => reasons.length > 0),
    [...wrong.map(() => true), ...right.map(() => false)],
  );
});
