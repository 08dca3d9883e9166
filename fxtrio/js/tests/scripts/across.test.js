/** Elements that components bring where browsers rearrange them: each way is found, and right ones are not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { prove } from './proving.js';

const PARTS = `
import React, { createContext, memo, useContext, useMemo, Children, Fragment, StrictMode } from 'react';
import { Link, Slot, Toc, Image, Head } from 'fx/client';
const Title = () => <h2>Title</h2>;
const Text = () => <em>Text</em>;
const Word = ({ text }) => text;
const Para = ({ children }) => <p>{children}</p>;
const Box = ({ children }) => <span>{children}</span>;
const Card = (props) => <div>{props.children}</div>;
const Wide = ({ children, ...rest }) => <Card {...rest}>{children}</Card>;
const Item = ({ children }) => <li>{children}</li>;
const Row = ({ children }) => <tr>{children}</tr>;
const Cell = ({ text }) => <td>{text}</td>;
const Theme = createContext(null);
`;

/** @param {string} body @param {string} [before] */
function page(body, before = '') {
  const statement = body.startsWith('<') ? `return ${body};` : body;
  return `${PARTS}${before}\nexport default function Page({ data, children }) { ${statement} }`;
}

/** In one file, the page; or more files. @type {Record<string, string | Record<string, string>>} */
const WRONG = {
  'a heading in a paragraph': page('<p><Title /></p>'),
  'a heading given to a paragraph': page('<Para><Title /></Para>'),
  'an element given to a paragraph': page('<Para><div>{data.text}</div></Para>'),
  'through an inline component': page('<p><Box><Title /></Box></p>'),
  'through three components': page(
    '<p><A /></p>',
    'const A = () => <span><B /></span>; const B = () => <b><C /></b>; const C = () => <div />;',
  ),
  'children given twice': page(
    '<Outer><Title /></Outer>',
    'const Outer = ({ children }) => <Para>{children}</Para>;',
  ),
  'children among all properties': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => <Para {...props} />;',
  ),
  'children in an attribute': page('<Para children={<Title />} />'),
  'children in an object': page('<Para {...{ children: <Title /> }} />'),
  'children of props': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => { const all = props.children; return <p>{all}</p>; };',
  ),
  'children in a pattern': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => { const { children: all } = props; return <p>{all}</p>; };',
  ),
  'children one by one': page(
    '<Outer><Title /></Outer>',
    'const Outer = ({ children }) => <p>{Children.map(children, (one) => <b>{one}</b>)}</p>;',
  ),
  'another property': page(
    '<Note icon={<Title />} />',
    'const Note = ({ icon }) => <p>{icon}</p>;',
  ),
  'a default of a property': page(
    '<Note />',
    'const Note = ({ icon = <Title /> }) => <p>{icon}</p>;',
  ),
  'a property of data': page(
    '<p>{rows.map((row) => <b key={row.id}>{row.icon}</b>)}</p>',
    'const rows = [{ id: 1, icon: <Title /> }];',
  ),
  'a constant': page('<p>{title}</p>', 'const title = <Title />;'),
  'an element in a variable': page('const title = <h2>{data.text}</h2>; return <p>{title}</p>;'),
  'a variable that is set later': page(
    'let title = null; if (data.a) title = <h2 />; return <p>{title}</p>;',
  ),
  'a list that grows': page('const all = []; all.push(<Title key="a" />); return <p>{all}</p>;'),
  'a function': page('<p>{title()}</p>', 'const title = () => <h2 />;'),
  'an argument of a function': page(
    '<div>{show(<Title />)}</div>',
    'function show(it) { return <p>{it}</p>; }',
  ),
  'a list of a function': page(
    '<p>{data.list.map(title)}</p>',
    'const title = (one) => <h2 key={one} />;',
  ),
  'the key of a table of elements': page(
    '<p>{ICONS[data.kind]}</p>',
    'const ICONS = { a: <Title /> };',
  ),
  'a context': page(
    '<Theme.Provider value={<Title />}><Inner /></Theme.Provider>',
    'const Inner = () => <p>{useContext(Theme)}</p>;',
  ),
  'in a context': page('<p><Theme.Provider value={1}><Title /></Theme.Provider></p>'),
  'in a fragment': page('<p><Fragment><Title /></Fragment></p>'),
  'an element in a fragment': page('<p><Fragment key="a"><div /></Fragment></p>'),
  'an element in a fragment of a list': page(
    '<p>{data.list.map((one) => <Fragment key={one}><b /><ul /></Fragment>)}</p>',
  ),
  'an element in a fragment of React': page('<p><React.Fragment><div /></React.Fragment></p>'),
  'an element in StrictMode': page('<p><StrictMode><b><div /></b></StrictMode></p>'),
  'an element in a context': page('<a href="/"><Theme value={1}><a href="/b" /></Theme></a>'),
  'an element in a provider': page('<p><Theme.Provider value={1}><div /></Theme.Provider></p>'),
  'a text in a fragment in a row': page(
    '<table><tbody><tr><Fragment>{data.text}</Fragment></tr></tbody></table>',
  ),
  'HTML in a fragment': page(
    '<p><Fragment><b dangerouslySetInnerHTML={{ __html: data.html }} /></Fragment></p>',
  ),
  'a block in a link in a paragraph': page('<p><Link href="/"><b><h2 /></b></Link></p>'),
  'HTML in a link': page(
    '<Link href="/"><b dangerouslySetInnerHTML={{ __html: data.html }} /></Link>',
  ),
  'a link in a link of one component': page('<a href="/"><b><Link href="/b">B</Link></b></a>'),
  'an element in a link': page('<Link href="/">A <a href="/b">B</a></Link>'),
  'a blank that HTML has not': page('<table><tbody><tr>&nbsp;<td /></tr></tbody></table>'),
  'a blank of JavaScript alone': page('<table><tbody><tr>{"\\u00a0"}<td /></tr></tbody></table>'),
  'a link in a row': page('<table><tbody><tr><Link href="/">A</Link></tr></tbody></table>'),
  'an image in a row': page(
    '<table><tbody><tr><Image src="/a.png" alt="" width={1} height={1} /></tr></tbody></table>',
  ),
  'a component of memo': page('<p><Kept /></p>', 'const Kept = memo(() => <h2 />);'),
  'a memo of an element': page('const it = useMemo(() => <h2 />, []); return <p>{it}</p>;'),
  'a condition': page('<p>{data.a ? <Title /> : <Text />}</p>'),
  'a component that returns one of two': page(
    '<p><Either on={data.on} /></p>',
    'function Either({ on }) { if (on) return <Text />; return <Title />; }',
  ),
  'a link in a link': page(
    '<Link href="/a"><Ext /></Link>',
    'const Ext = () => <a href="/b">B</a>;',
  ),
  'a link in a link of a component': page(
    '<Ext><Link href="/b">B</Link></Ext>',
    'const Ext = ({ children }) => <a href="/a">{children}</a>;',
  ),
  'a link in a drawing in a link': page(
    '<a href="/"><svg><foreignObject><a href="/b">B</a></foreignObject></svg></a>',
  ),
  'a button in a button': page(
    '<button><Go /></button>',
    'const Go = () => <b><button>Go</button></b>;',
  ),
  'a form in a form': page(
    '<form><div><Find /></div></form>',
    'const Find = () => <section><form /></section>;',
  ),
  'a heading in a heading': page('<h1><Title /></h1>'),
  'an item in an item': page('<li><div><Item>{data.text}</Item></div></li>'),
  'an item given to an item': page('<ul><Item><Item>{data.text}</Item></Item></ul>'),
  'a term in a description': page('<dl><dd><Term /></dd></dl>', 'const Term = () => <dt>A</dt>;'),
  'a component in a table': page('<table><Row><Cell text="a" /></Row></table>'),
  'a text in a row': page('<table><tbody><tr><Word text={data.text} /></tr></tbody></table>'),
  'a text given to a row': page('<table><tbody><Row>{data.text}</Row></tbody></table>'),
  'a text given to a body': page(
    '<Body>Text</Body>',
    'const Body = ({ children }) => <table><tbody>{children}</tbody></table>;',
  ),
  'a cell in a body': page('<table><tbody><Cell text="a" /></tbody></table>'),
  'a cell in no row': page('<div><Cell text="a" /></div>'),
  'a row as the page': page('<Row />'),
  'a component in a row': page('<table><tbody><tr><Text /></tr></tbody></table>'),
  'a block in a drawing': page('<svg><Card>{data.text}</Card></svg>'),
  'a block in a list of choices': page('<select><Card>{data.text}</Card></select>'),
  'an element in an option': page('<select><option><Text /></option></select>'),
  'a table of contents': page('<p><Toc /></p>'),
  'all properties that a function gets': page(
    '<Outer><Title /></Outer>',
    'const all = (props) => props.children; const Outer = (props) => <p>{all(props)}</p>;',
  ),
  'all properties as one of another component': page(
    '<Outer><Title /></Outer>',
    'const Inner = ({ all }) => <p>{all.children}</p>; const Outer = (props) => <Inner all={props} />;',
  ),
  'all properties in a list': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => <p>{[props].map((one) => one.children)}</p>;',
  ),
  'all properties in a context': page(
    '<Outer><Title /></Outer>',
    'const Inner = () => <p>{useContext(Theme).children}</p>; const Outer = (props) => <Theme.Provider value={props}><Inner /></Theme.Provider>;',
  ),
  'all properties for a consumer': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => <Theme.Provider value={props}><Theme.Consumer>{({ children }) => <p>{children}</p>}</Theme.Consumer></Theme.Provider>;',
  ),
  'all properties in a loop': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => { let it; for (const one of [props]) it = one.children; return <p>{it}</p>; };',
  ),
  'all properties that are spread out of a list': page(
    '<Outer><Title /></Outer>',
    'const Outer = (props) => <Para {...[props][0]} />;',
  ),
  'other properties, with children': page(
    '<Outer id="a"><Title /></Outer>',
    'const Outer = ({ id, ...rest }) => <p>{rest.children}</p>;',
  ),
  'children of children': page(
    '<Outer><Card><Title /></Card></Outer>',
    'const Outer = ({ children }) => <p>{children.props.children}</p>;',
  ),
  'children of children in a pattern': page(
    '<Outer><Card><Title /></Card></Outer>',
    'const Outer = ({ children: { props } }) => <p>{props.children}</p>;',
  ),
  'a getter': page('<p>{icons.a}</p>', 'const icons = { get a() { return <Title />; } };'),
  'a consumer': page(
    '<Theme.Provider value={<Title />}><Theme.Consumer>{(it) => <p>{it}</p>}</Theme.Consumer></Theme.Provider>',
  ),
  'a function of a consumer': page(
    '<p><Theme.Consumer>{show}</Theme.Consumer></p>',
    'const show = () => <h2 />;',
  ),
  'a property that is set': page('const o = {}; o.icon = <Title />; return <p>{o.icon}</p>;'),
  'a part of a list that a pattern sets': page(
    'const list = []; [list[0]] = [<Title />]; return <p>{list}</p>;',
  ),
  'a property that a pattern sets': page(
    'const o = {}; ({ a: o.icon } = { a: <Title /> }); return <p>{o.icon}</p>;',
  ),
  'a list under another name': page(
    'const list = []; const same = list; same.push(<Title />); return <p>{list}</p>;',
  ),
  'a part of a list that a loop sets': page(
    'const list = []; for (list[0] of [<Title />]); return <p>{list}</p>;',
  ),
  'a map that is set twice': page(
    'const o = new Map(); o.set(1, 2).set(1, <Title />); return <p>{o.get(1)}</p>;',
  ),
  'a map': page('const o = new Map(); o.set(1, <Title />); return <p>{o.get(1)}</p>;'),
  'a part of a list': page('const [, it] = [1, <Title />]; return <p>{it}</p>;'),
  'a loop': page(
    'const all = []; for (const it of [<Title />]) all.push(<p>{it}</p>); return all;',
  ),
  'a list that is made': page('<p>{Array.from({ length: 3 }, () => <Title />)}</p>'),
  'a component as a function': page('<p>{Title()}</p>'),
  'a component under another name': page('<p><Other /></p>', 'const Other = Title;'),
  'the default of an argument': page(
    '<div>{show()}</div>',
    'const show = (it = <h2 />) => <p>{it}</p>;',
  ),
  'a recursive component': page(
    '<Tree node={data.tree} />',
    'const Tree = ({ node }) => <span><p>{node.text}{node.list.map((one) => <Tree key={one.id} node={one} />)}</p></span>;',
  ),
  'other modules': {
    'pages/index.fxl':
      "import { Para } from '../a.jsx';\nimport * as all from '../b.jsx';\nexport default () => <Para><all.Title /></Para>;",
    'a.jsx': "export { Text as Para } from './c.jsx';",
    'b.jsx': "import Head from './d.jsx';\nexport const Title = () => <b><Head /></b>;",
    'c.jsx': 'export function Text({ children }) { return <p>{children}</p>; }',
    'd.jsx': 'const Head = () => <h2>Head</h2>;\nexport default Head;',
  },
  'an export of another module': {
    'pages/index.fxl': "import { title } from '../a.jsx';\nexport default () => <p>{title}</p>;",
    'a.jsx': 'export const title = <h2>Title</h2>;',
  },
  'an export that is passed on': {
    'pages/index.fxl': "import { title } from '../b.js';\nexport default () => <p>{title}</p>;",
    'b.js': "export * from './a.jsx';",
    'a.jsx': 'export const title = <h2>Title</h2>;',
  },
  'a part of an export': {
    'pages/index.fxl': "import { title } from '../a.jsx';\nexport default () => <p>{title}</p>;",
    'a.jsx': 'export const { title } = { title: <h2>Title</h2> };',
  },
  'a page in its layout': {
    'pages/index.fxl': 'export default () => <h1>Page</h1>;',
    'pages/layout.fxl': 'export default ({ children }) => <p>{children}</p>;',
  },
  'a page in the layout of its layout': {
    'pages/index.fxl': 'export default () => <a href="/">Page</a>;',
    'pages/a/layout.fxl': 'export default ({ children }) => <div>{children}</div>;',
    'pages/layout.fxl':
      'export default function Layout(props) { return <a href="/">{props.children}</a>; }',
  },
  'a slot': {
    'pages/index.fxl':
      'export const slots = { aside: Aside };\nfunction Aside() { return <aside />; }\nexport default () => <h1>Page</h1>;',
    'pages/layout.fxl':
      'import { Slot } from \'fx/client\';\nexport default ({ children }) => <main><p><Slot name="aside" /></p>{children}</main>;',
  },
  'an island': {
    'pages/index.fxl':
      "import { Island } from 'fx/client';\nimport Count from '../count.jsx';\nexport default () => <p><Island as=\"span\"><Count /></Island></p>;",
    'count.jsx': 'export default function Count() { return <div>1</div>; }',
  },
};

/** Texts that browsers do not read as React writes them. */
const TEXTS = {
  'a newline of a list': page('<pre>{data.lines.map((one) => one.text)}</pre>'),
  'a newline of the first of two values': page('<pre>{data.a}{data.b}</pre>'),
  'a newline of a component': page('<pre><Word text={data.text} /></pre>'),
  'a newline of a fragment': page('<pre><>{data.text}</></pre>'),
  'a newline of children': page(
    '<Code>A{data.text}</Code>',
    'const Code = ({ children }) => <pre>{children}</pre>;',
  ),
  'a newline that is written': page("<pre>{'\\n'}{data.text}</pre>"),
  'a newline as a character of HTML': page('<pre>&#10;{data.text}</pre>'),
  'a newline of a list with a name': page(
    'const all = data.lines.map((one) => one); return <pre>{all}</pre>;',
  ),
  'a newline of an attribute': page('<pre children={data.lines.map((one) => one)} />'),
  'two texts of a style': page('<style>{`a{}`}{`b{}`}</style>'),
  'an element of a style': page('<style><Text /></style>'),
  'two texts of a title in a drawing': page('<svg><g><title>{data.a} icon</title></g></svg>'),
  'a component of a title in a drawing': page('<svg><title><Word text="a" /></title></svg>'),
  'two texts of a title that a component brings into a drawing': page(
    '<svg><Name /></svg>',
    'const Name = () => <><title>{data.a} icon</title></>;',
  ),
  'elements in a style in a drawing': page('<svg><style>{`<p>`}</style></svg>'),
  'characters of HTML in a style in a formula': page('<math><style>{`a&lt;`}</style></math>'),
  'a style that only a render knows in a drawing': page('<svg><style>{data.css}</style></svg>'),
  'a style that a component brings into a drawing': page(
    '<svg><Css css={data.css} /></svg>',
    'const Css = ({ css }) => <style>{css}</style>;',
  ),
  'a text field in a drawing': page('<svg><textarea defaultValue="<p>" /></svg>'),
};

/** @type {Record<string, string | Record<string, string>>} */
const RIGHT = {
  'inline components in a paragraph': page('<p><Text /> and <Box><Text /></Box></p>'),
  'a text given to a paragraph': page(
    '<><Para>{data.text} <b>bold</b></Para><Card><Title /></Card></>',
  ),
  'the same component in and outside of a paragraph': page(
    '<><p><Box>{data.text}</Box></p><div><Box><Title /></Box></div></>',
  ),
  'inline elements in fragments and links': page(
    '<p><Fragment><Link href="/"><b>A</b> <Image src="/a.png" alt="" width={1} height={1} /></Link>{data.a}</Fragment></p>',
  ),
  'rows in fragments': page(
    '<table><tbody>{data.list.map((one) => <Fragment key={one}><tr /><tr><td>{one}</td></tr></Fragment>)}</tbody></table>',
  ),
  'texts of one piece': page(
    '<><pre>{data.text}</pre><pre>{data.lines.join("\\n")}</pre><pre>{data.a ? `\\n${data.a}` : "b"}</pre><style>{data.css}</style><svg><title>{`${data.a} icon`}</title><style>{`a > b {}`}</style></svg><pre children={data.text} /></>',
  ),
  'texts behind a text or an element': page(
    '<><pre>\n  A{data.text}</pre><pre><code>{data.a}{data.b}</code>{data.c}</pre><pre>$ {data.a}{data.b}</pre></>',
  ),
  'a title for the document': page(
    '<><Head><title>{data.a} - {data.b}</title></Head><h1>A</h1></>',
  ),
  'nested lists': page('<ul><Item>One<ul><Item>Two</Item></ul></Item></ul>'),
  'a list of a tree': page(
    '<ul><Tree node={data.tree} /></ul>',
    'const Tree = ({ node }) => <li>{node.text}<ul>{node.list.map((one) => <Tree key={one.id} node={one} />)}</ul></li>;',
  ),
  'a tree with children in its data': page(
    '<ul><Tree node={data.tree} /></ul>',
    'const Tree = ({ node }) => <li>{node.text}<ul>{node.children.map((one) => <Tree key={one.id} node={one} />)}</ul></li>;',
  ),
  'tables by rows': page(
    '<table><tbody>{data.rows.map((row) => <Row key={row.id}><Cell text={row.text} /><td><Card>{row.text}</Card></td></Row>)}</tbody></table>',
  ),
  'rows in a variable': page(
    'const rows = data.rows.map((row) => <Row key={row.id}><Cell text={row.text} /></Row>); return <table><tbody>{rows}</tbody></table>;',
  ),
  'a body with rows given to it': page(
    '<Body><Row><Cell text={data.text} /></Row></Body>',
    'const Body = ({ children }) => <table><tbody>{children}</tbody></table>;',
  ),
  'links in items': page(
    '<ul><Item><Link href="/">Home</Link></Item><li><Link href="/"><Text /></Link></li></ul>',
  ),
  'blocks in a card': page(
    '<Card><Title /><Para>Text</Para><ul><Item>A</Item></ul><Card><Card /></Card></Card>',
  ),
  'a card of other properties': page('<Wide id="a"><Title /></Wide>'),
  'a link around a card': page('<Link href="/"><Card><Title /></Card></Link>'),
  'a form with components': page(
    '<form><Card><Title /><Field label="A" /></Card><button><Text /></button></form>',
    'const Field = ({ label }) => <label>{label}<input name={label} /></label>;',
  ),
  choices: page(
    '<select>{data.list.map((one) => <Choice key={one.id} text={one.text} />)}</select>',
    'const Choice = ({ text }) => <option>{text}</option>;',
  ),
  'a description': page(
    '<dl>{data.list.map((one) => <Pair key={one.id} pair={one} />)}</dl>',
    'const Pair = ({ pair }) => <><dt>{pair.name}</dt><dd><Card>{pair.text}</Card></dd></>;',
  ),
  'a heading of words': page(
    '<h1><Word text={data.title} /> {label(data.kind)}</h1>',
    'const label = (kind) => kind.toUpperCase();',
  ),
  'a recursive component': page(
    '<p><Deep n={data.n} /></p>',
    'const Deep = ({ n }) => <b>{n > 0 ? <Deep n={n - 1} /> : n}</b>;',
  ),
  'a drawing by a component': page(
    '<p><a href="/"><Icon /> A</a></p>',
    'const Icon = () => <svg><Shape /></svg>; const Shape = () => <path d="M0 0" />;',
  ),
  'an icon as a property': page(
    '<Note icon={<Text />} />',
    'const Note = ({ icon, data }) => <p>{icon}{data?.text}</p>;',
  ),
  'a context of texts': page(
    '<Theme.Provider value="dark"><Inner /></Theme.Provider>',
    'const Inner = () => <p>{useContext(Theme)}</p>;',
  ),
  'a head in a paragraph': page(
    '<div><Head><title>A</title></Head><p>{data.a && <Text />}<Image src="/a.png" alt="" /></p></div>',
  ),
  'a page in its layouts': {
    'pages/index.fxl': 'export default ({ data }) => <><h1>Page</h1><p>{data.text}</p></>;',
    'pages/a/layout.fxl': 'export default ({ children }) => <section>{children}</section>;',
    'pages/layout.fxl':
      'export default ({ children, data }) => <main><ul><li>{data.user}</li></ul>{children}</main>;',
  },
  'one component of a module with others': {
    'pages/index.fxl': "import { Text } from '../a.jsx';\nexport default () => <p><Text /></p>;",
    'a.jsx':
      'export const Text = () => <b>Text</b>;\nexport const Card = () => <div><Text /></div>;',
  },
};

/** @param {string | Record<string, string>} written */
async function reasonsOf(written) {
  const files = typeof written === 'string' ? { 'pages/index.fxl': written } : written;
  const layouts = ['pages/layout.fxl', 'pages/a/layout.fxl'].filter((one) => one in files);
  const [found] = await prove(files, ['pages/index.fxl', ...layouts]);
  return found;
}

for (const [what, written] of Object.entries(WRONG)) {
  test(`browsers rearrange: ${what}`, async () => {
    const found = await reasonsOf(written);

    assert.match(found.join('\n'), / in <[\w-]+>, (which browsers rearrange|where it may not)/);
    assert.ok(
      found.every((one) => one.includes(' in <')),
      found.join('\n'),
    );
  });
}

for (const [what, written] of Object.entries(RIGHT)) {
  test(`browsers leave alone: ${what}`, async () => {
    assert.deepEqual(await reasonsOf(written), []);
  });
}

test('components within components are followed however deep', async () => {
  const parts = Array.from({ length: 4000 }, (_, n) => `const C${n + 1} = () => <b><C${n} /></b>;`);
  const text = `const C0 = () => <h2 />;\n${parts.join('\n')}\nexport default () => <p><C4000 /></p>;`;

  assert.deepEqual(await reasonsOf({ 'pages/index.fxl': text }), [
    'pages/index.fxl:4002: <h2> in <p>, which browsers rearrange (C0 in pages/index.fxl)',
  ]);
});

test('the reason names where the component is used, and which one it is', async () => {
  const files = {
    'pages/index.fxl':
      "import { Title } from '../a.jsx';\nexport default () =>\n  <p><Title /></p>;",
    'a.jsx': 'export const Title = () => <h2>Title</h2>;',
  };

  assert.deepEqual(await reasonsOf(files), [
    'pages/index.fxl:3: <h2> in <p>, which browsers rearrange (Title in a.jsx)',
  ]);
});

test('a page is not blamed for what another one gives to the same component', async () => {
  const para = 'export const Para = ({ children }) => <p>{children}</p>;';
  const files = {
    'pages/a.fxl':
      "import { Para } from '../a.jsx';\nexport default () => <Para><h2>A</h2></Para>;",
    'pages/b.fxl': "import { Para } from '../a.jsx';\nexport default () => <Para>B</Para>;",
    'a.jsx': para,
  };

  assert.deepEqual(await prove(files, ['pages/a.fxl'], ['pages/b.fxl']), [
    ['pages/a.fxl:2: <h2> in <p>, which browsers rearrange'],
    [],
  ]);
});

for (const [what, written] of Object.entries(TEXTS)) {
  test(`browsers read otherwise: ${what}`, async () => {
    assert.match((await reasonsOf(written)).join('\n'), /<(pre|style|textarea|title)>/);
  });
}
