/** What code can do in a browser that its HTML cannot: each way is found, and pages of plain HTML have none. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { page, ownReasonsOf } from './proving.js';

/** Ways to need scripts, each in one line. @type {Record<string, string[]>} */
const WAYS = {
  'events and references of elements': [
    page('<button onClick={() => data.go()}>Go</button>'),
    page('<button onclick="go()">Go</button>'),
    page('<img onError={data.later} />'),
    page('<video onTimeUpdateCapture={props.seen} />'),
    page('<p ref={props.place}>Text</p>'),
    page('<button {...props}>Go</button>'),
    page('<form {...{ ["on" + "Submit"]: data.send }} />'),
    page('<p>{...data.parts}</p>'),
  ],
  'forms and fields': [
    page('<form action={data.send} />'),
    page('<form action={() => data.send()} />'),
    page('<button formAction={props.send}>Go</button>'),
    page('<input type="submit" formAction={props.send} />'),
    page('<input value={data.name} />'),
    page('<input type={data.type} value={data.name} />'),
    page('<input type="checkbox" checked={data.on} />'),
    page('<textarea value={data.text} />'),
    page('<select value={data.choice} />'),
    page('<input readOnly={data.fixed} value={data.name} />'),
    page('<input readOnly readOnly={data.fixed} value={data.name} />'),
    page('<input type="text" type="range" readOnly value={data.size} />'),
    page('<input type={data.type} readOnly value={data.size} />'),
    page('<input type="range" readOnly value={data.size} />'),
    page('<input type="color" readOnly value={data.color} />'),
    page('<select readOnly value={data.choice} />'),
  ],
  'elements with a life of their own': [
    page('<script src="/a.js" />'),
    page('<my-counter start={1} />'),
    page('<p is="my-text" />'),
    page('<video muted src="/a.mp4" />'),
    page('<video srcObject={data.stream} />'),
    page('const Tag = data.tag; const value = <Tag onClick={data.go} />'),
    page('const Tag = "button"; const value = <Tag {...props} />'),
    page('<props.tag onClick={data.go} />'),
    page('<data.icons.Plus />'),
    page('<template><p>Text</p></template>'),
    page('<head><title>Text</title></head>'),
  ],
  'elements that browsers put elsewhere': [
    page('<p>Text<div>{data.text}</div></p>'),
    page('<p><span>{data.list.map((one) => <h2>{one}</h2>)}</span></p>'),
    page('<p>{data.on ? <ul /> : null}</p>'),
    page('<a href="/a">One<b><a href="/b">Two</a></b></a>'),
    page('<form action="/a"><div><form action="/b" /></div></form>'),
    page('<button>One<button>Two</button></button>'),
    page('<table><tr><td>{data.text}</td></tr></table>'),
    page('<table>Prices<tbody /></table>'),
    page('<table><tbody><tr>{data.text}<td /></tr></tbody></table>'),
    page('<ul><li><span><li>{data.text}</li></span></li></ul>'),
    page('<div><body>{data.text}</body></div>'),
    page('<table><tbody><td>{data.text}</td></tbody></table>'),
    page('<div><td>{data.text}</td></div>'),
    page('<table><tbody><tr><p>{data.text}</p></tr></tbody></table>'),
    page('<h1>{data.text}<h2>Two</h2></h1>'),
    page('<svg><g><p>{data.text}</p></g></svg>'),
    page('<math><b>{data.text}</b></math>'),
    page('<ul><li>One<li>Two</li></li></ul>'),
  ],
  'hooks and parts of React': [
    `import { useState } from 'react';\n${page('const [value] = useState(0)')}`,
    `import { useEffect } from 'react';\n${page('useEffect(() => {}); const value = 1')}`,
    `import { useSyncExternalStore as read } from 'react';\n${page('const value = read(props.a, props.b)')}`,
    `import * as React from 'react';\n${page('const [value] = React.useReducer(data.f, 0)')}`,
    `import React from 'react';\n${page('const value = React["useState"](0)[0]')}`,
    `import React from 'react';\n${page('const { useState } = React; const [value] = useState(0)')}`,
    `import { createElement } from 'react';\n${page('const value = createElement("button", props)')}`,
    `import { cloneElement } from 'react';\n${page('const value = cloneElement(children, props)')}`,
    `import { use } from 'react';\n${page('const value = use(data.later)')}`,
    `import { lazy } from 'react';\n${page('const value = lazy(data.load)')}`,
    `import { Component } from 'react';\nexport default class Page extends Component {}`,
    `export { useState } from 'react';\n${page('const value = 1')}`,
    `export * from 'react';\n${page('const value = 1')}`,
    `import { Activity } from 'react';\n${page('<Activity mode="hidden" />')}`,
  ],
  'what only the client module can do': [
    `import { Form } from 'fx/client';\n${page('<Form action="add" />')}`,
    `import { useAction } from 'fx/client';\n${page('const value = useAction("add").pending')}`,
    `import { Link } from 'fx/client';\n${page('<Link href="/" onClick={data.go}>Go</Link>')}`,
    `import { Link } from 'fx/client';\n${page('<Link {...props}>Go</Link>')}`,
    `import { Link } from 'fx/client';\n${page('<Link href="/" replace>Go</Link>')}`,
    `import { Link as A } from 'fx/client';\n${page('<A href="/" scroll={false}>Go</A>')}`,
    `import { Link } from 'fx/client';\n${page('<Link href="/" ref={data.place}>Go</Link>')}`,
    `import * as fx from 'fx/client';\n${page('<fx.ClientOnly>Text</fx.ClientOnly>')}`,
    `import * as fx from 'fx/client';\n${page('const value = fx.navigate("/")')}`,
    `import { Link } from 'fx/client';\n${page('Link({ href: "/", replace: true }); const value = 1')}`,
    `import { Link } from 'fx/client';\nconst LINKS = [{ href: '/', replace: true }];\n${page('const value = LINKS.map(Link)')}`,
    `import { Link } from 'fx/client';\n${page('const value = Array.from(data.links, Link)')}`,
    `import { Image as Picture } from 'fx/client';\n${page('const value = Picture(data.picture)')}`,
    `import * as fx from 'fx/client';\n${page('const value = data.links.map(fx.Link)')}`,
    `import { Link } from 'fx/client';\nexport { Link };`,
    `import { Link } from 'fx/client';\nexport default Link;`,
    `import { memo } from 'react';\nimport { Toc } from 'fx/client';\nexport default memo(Toc);`,
    `import { Script } from 'fx/client';\n${page('<Script src="/a.js" />')}`,
    `import { useStream } from 'fx/client';\n${page('const value = useStream("feed").last')}`,
  ],
  'names of browsers': [
    page('const value = window.innerWidth'),
    page('const value = typeof window'),
    page('const value = globalThis["document"].title'),
    page('const value = self.name'),
    page('const value = new IntersectionObserver(data.f)'),
    page('const value = new Audio("/a.mp3").play()'),
    page('const value = new XMLHttpRequest()'),
    page('const value = new SharedWorker("/a.js")'),
    page('const value = fetch("/")'),
    page('const value = setTimeout(data.f)'),
    page('const value = navigator.sendBeacon("/")'),
    page('const value = localStorage.name'),
    page('const value = customElements.define("a-b", data.f)'),
    page('const value = Promise.resolve(1).then(data.f)'),
    page('const value = eval("1")'),
    page('const value = new Function("return document")()'),
    page('const value = alert'),
    page('const value = process.title'),
    page('const value = process.env.HOME'),
    page('const value = crypto.randomUUID()'),
    page('const value = performance.now()'),
    page('const value = arguments.length'),
    page('const value = this'),
    page('const value = toString.call(data)'),
    page('const value = constructor.name'),
    page('<constructor><p>Text</p></constructor>'),
  ],
  'ways around the lists': [
    page('const value = data.map.constructor("return document")()'),
    page('const value = data.map["constructor"]("return document")()'),
    page('const value = data.map[`constructor`]("return document")()'),
    page('const value = data.map["con" + "structor"]("return document")()'),
    page('const key = data.key; const value = data.map[key]("return document")()'),
    page('const { constructor: make } = data.map; const value = make("1")'),
    page('const { ["constructor"]: make } = data.map; const value = make("1")'),
    page('const { [data.key]: make } = data.map; const value = make("1")'),
    page('const value = Object.getPrototypeOf(data.map)'),
    page('const all = Object; const value = all.getPrototypeOf(data.map)'),
    page(
      'const table = { a: "b" }; const all = table[data.key]; const value = all.getPrototypeOf(data)',
    ),
    page('const value = data.map.call(data, props.f)'),
    page('const value = Reflect.get(data, "map")'),
    page('const value = new Proxy(data, props)'),
    page('const value = { __proto__: data }'),
    page('const value = String.raw`a`'),
    page('const value = props.css`color: red`'),
    page('let i = 0; i = data.key; const value = data.map[i]("1")'),
    page('let i = 0; i += data.key; const value = data.map[i]("1")'),
    page('for (const key in data) props[key](); const value = 1'),
  ],
  'modules and code that loads': [
    `import { translateMessages } from 'fx/client';\ntranslateMessages(start());\nfunction start() {}`,
    `import { translateMessages } from 'fx/client';\nconst set = translateMessages;\nset(() => 'a');`,
    `import { translateMessages } from 'fx/client';\n${page('translateMessages(data.by); const value = 1')}`,
    `import * as client from 'fx/client';\nclient.translateMessages((text) => text);`,
    `function translateMessages() {}\ntranslateMessages((text) => text);`,
    `document.title = 'a';\n${page('const value = 1')}`,
    `console.log('loaded');\n${page('const value = 1')}`,
    `start();\nfunction start() {}\n${page('const value = 1')}`,
    `if (1) { start(); }\nfunction start() {}\n${page('const value = 1')}`,
    `await 1;\n${page('const value = 1')}`,
    `for await (const a of []) {}\n${page('const value = 1')}`,
    page('const value = import("./more")'),
    page('const value = import.meta.url'),
    page('const value = import.meta.env.SSR'),
    page('const value = Object.keys(import.meta.env)'),
    page('const value = import.meta.glob("./*.js")'),
    page('const value = new URL("./a.png", import.meta.url)'),
    `export default async function Page() { return <p />; }`,
    `export function* parts() { yield 1; }\n${page('const value = 1')}`,
    `/** @jsxImportSource @emotion/react */\n${page('<p css={{ color: "red" }} />')}`,
    `// @jsx create\nimport { create } from './create.js';\n${page('<p />')}`,
    page('const value = (<p />).props.title'),
    `enum Size { Small }\n${page('const value = Size.Small')}`,
  ],
  'what is another value in a browser': [
    page('const value = Math.random()'),
    page('const value = Math["random"]()'),
    page('const { random } = Math; const value = random()'),
    page('const value = Math.sin(data.angle)'),
    page('const value = 2 ** data.power'),
    page('let value = 2; value **= data.power'),
    page('const value = new Date().getHours()'),
    page('const value = Date.now()'),
    page('const value = new Intl.NumberFormat().format(1)'),
    page('const value = data.total.toLocaleString()'),
    `const PRICES = [1234.5];\n${page('const value = PRICES[`toLocaleString`]()')}`,
    `const NAMES = { a: 'b' };\n${page('const value = NAMES[data.how]?.()')}`,
    page('const { toLocaleString: f } = data.total; const value = f()'),
    page('const value = data.names.toSorted((a, b) => a.localeCompare(b))'),
    page('try { value = data() } catch { } const value = 1'),
    page('const value = new Error("a").stack'),
    `function help() {}\n${page('const value = help.name')}`,
    `function help() {}\n${page('const value = `${help}`')}`,
    `function help() {}\n${page('const value = help + ""')}`,
    `function help() {}\n${page('const value = help.toString()')}`,
  ],
  'names and texts of functions, which are shortened in a browser': [
    page('const value = String(() => 1).length'),
    page('const help = () => 1; const value = String(help)'),
    page('const help = () => 1; const value = [help].join()'),
    page('const help = () => 1; const value = { help }.help.name'),
    page('const help = () => 1; const make = () => help; const value = make().name'),
    page('const make = () => () => 1; const value = `${make()}`'),
    page('const help = props.f ? () => 1 : null; const value = help.name'),
    page('const { help = () => 1 } = props; const value = help.name'),
    page('const value = (() => 1) + ""'),
    `const Row = () => <i />;\n${page("const value = Row['name']")}`,
    `import { Link } from 'fx/client';\n${page('const value = [Link][0].name')}`,
    `const Row = () => <i />;\n${page('const row = <Row />; const value = row.type.name')}`,
    `const Row = ({ f }) => <i>{f.name}</i>;\n${page('<Row f={() => 1} />')}`,
    `const Row = ({ children }) => <i>{children.name}</i>;\n${page('<Row>{() => 1}</Row>')}`,
    `const read = (f) => f.name;\n${page('const help = () => 1; const value = read(help)')}`,
    `export const slots = { side: () => <i /> };\n${page('const value = slots.side.name')}`,
    `export const slots = { Side };\nfunction Side() {}\n${page('const { Side: a } = slots; const value = String(a)')}`,
    `export const slots = { side() { return null; } };\n${page('const value = Object.values(slots).join()')}`,
    `import { slots as all } from './other.fxl';\n${page('const value = all.side.name')}`,
    `import * as other from './other.fxl';\n${page('const value = other.slots.side.name')}`,
    `const Parts = { Row: () => <i /> };\n${page('const value = Parts.Row.name')}`,
  ],
  'what one render leaves to the next': [
    `let count = 0;\n${page('count += 1; const value = count')}`,
    `let count = 0;\n${page('const value = count++')}`,
    `let count = 0;\n${page('[count] = [1]; const value = count')}`,
    `let count = 0;\n${page('({ a: count = 1 } = data); const value = count')}`,
    `let count = 0;\n${page('for (count of data.list); const value = count')}`,
    `const seen = [];\n${page('seen.push(1); const value = seen.length')}`,
    `const seen = [];\n${page('const all = seen; all.push(1); const value = all.length')}`,
    `const seen = [];\n${page('seen["push"](1); const value = seen.length')}`,
    `const seen = [];\n${page('(seen?.["push"])(1); const value = seen.length')}`,
    `const seen = [];\n${page('[1].forEach(seen.push, seen); const value = seen.length')}`,
    `const seen = new Set();\n${page('Array.from([1], seen.add, seen); const value = seen.size')}`,
    `const seen = [1];\n${page('seen[`push`](1); const value = seen.length')}`,
    `const seen = [1];\n${page('const key = "push"; seen[key](1); const value = seen.length')}`,
    `const seen = [1];\n${page('(seen?.[data.key])(1); const value = seen.length')}`,
    `const all = [1]["values"]();\n${page('const value = [...all].length')}`,
    `const seen = {};\n${page('seen.count = 1; const value = seen.count')}`,
    `const seen = new Map();\n${page('seen.set(1, 2); const value = seen.size')}`,
    `const seen = [];\n${page('const box = { seen }; box.seen.push(1); const value = 1')}`,
    `const seen = [];\nconst add = (list) => list.push(1);\n${page('const value = add(seen)')}`,
    `const next = counter();\nfunction counter() { let n = 0; return () => ++n; }\n${page('const value = next()')}`,
    `const store = make();\nfunction make() { const l = []; return { a: () => l.push(1) }; }\n${page('const value = store.a()')}`,
    `const next = [0].map((n) => () => ++n)[0];\n${page('const value = next()')}`,
    `const next = same(() => 1);\nfunction same(f) { let n = 0; return keep(() => ++n); }\nconst keep = (f) => f;\n${page('const value = next()')}`,
    `const shared = [];\nconst store = { filter: () => shared };\n${page('store.filter().push(1); const value = shared.length')}`,
    `const shared = [];\nfunction box() { const o = {}; o.filter = () => shared; return o; }\n${page('box().filter().push(1); const value = 1')}`,
    `const store = { map: (f) => f };\nfunction make() { let n = 0; return store.map(() => ++n); }\nconst next = make();\n${page('const value = next()')}`,
    `function Inner(props) { let n = 0; return props.map(() => ++n)(); }\n${page('<Inner map={(f) => f} />')}`,
    `const found = /a/g;\n${page('const value = found.test(data.text)')}`,
    `const found = /a/y;\n${page('const value = data.text.replace(found, "")')}`,
    `const left = [1, 2].values();\n${page('const value = [...left].length')}`,
    `const left = new Map([[1, 2]]).entries();\n${page('const value = left.next().value')}`,
    `const left = 'a'.matchAll(/a/g);\n${page('const value = [...left].length')}`,
    page('delete data.name; const value = 1'),
    page('data.items.sort(); const value = 1'),
    page('data.seen = true; const value = 1'),
    `const Theme = make();\nfunction make() { return { _currentValue: 1 }; }\n${page('const value = Theme._currentValue')}`,
  ],
};

for (const [group, texts] of Object.entries(WAYS)) {
  test(`found: ${group}`, () => {
    const missed = texts.filter((text) => ownReasonsOf(text).length === 0);
    assert.deepEqual(missed, []);
  });
}

test('there are more than enough ways', () => {
  assert.ok(Object.values(WAYS).flat().length > 120);
});

/** Pages of plain HTML. */
const PLAIN = [
  `import { translateMessages } from 'fx/client';
  const GERMAN = { 'The connection was lost.': 'Keine Verbindung.' };
  translateMessages((text, lang) => (lang === 'de' ? GERMAN[text] : undefined));
  ${page('<p>{data.text}</p>')}`,
  page('<p title={data.title} style={{ color: data.color }}>{data.text}</p>'),
  page('<ul>{data.items.map((item, i) => <li key={item.id}>{i + 1}. {item.name}</li>)}</ul>'),
  page(
    '<form method="post" action="/api/__actions/index/add"><input name="a" defaultValue="1" /></form>',
  ),
  page(
    '<form action={`/search/${data.kind}`}><button name="go" value={data.id}>Go</button></form>',
  ),
  page('<input type="hidden" name="id" value={data.id} />'),
  page('<input readOnly value={data.id} />'),
  page(
    '<p><input type="email" readOnly value={data.a} /><textarea readOnly value={data.a} /><select disabled value={data.a} /><input type="range" disabled value={data.a} /></p>',
  ),
  page('<p dangerouslySetInnerHTML={{ __html: data.html }} />'),
  page(
    '<table><caption>A</caption><colgroup><col /></colgroup><tbody>{data.rows.map((row) => <tr key={row.id}><td><p>{row.text}</p><table><tbody /></table></td></tr>)}</tbody></table>',
  ),
  page(
    '<ul><li>One<ul><li><h2><a href="/">Two</a></h2></li></ul><dl><dt>A</dt><dd><p>B</p></dd></dl></li></ul>',
  ),
  page(
    '<p><svg><a><title>A</title><g /></a><foreignObject><p>B</p></foreignObject></svg><button><span>Go</span></button></p>',
  ),
  page('<label htmlFor="a">{props.label ?? "None"}<progress value={data.done} max={10} /></label>'),
  `import { Head, Link, Image, useParams } from 'fx/client';
   ${page('<><Head><title>{data.title}</title></Head><Link href="/">Home</Link><Image src="/a.png" alt="" /></>')}`,
  `import { createContext, memo, useContext, useId, useMemo, Fragment, Children } from 'react';
   const Theme = createContext('light');
   const Row = memo(function Row({ item }) { return <li id={useId()}>{useContext(Theme)} {item.name}</li>; });
   Row.displayName = 'Row';
   export default function Page({ data, children }) {
     const total = useMemo(() => data.items.reduce((sum, item) => sum + item.price, 0), [data.items]);
     return <Theme.Provider value="dark"><Fragment>{data.items.map((item) => <Row {...item} item={item} key={item.id} />)}</Fragment>{Children.count(children)} {total.toFixed(2)}</Theme.Provider>;
   }`,
  `import React from 'react';
   const COLORS = { open: 'green', done: 'gray' };
   type Item = { id: number; state: string };
   export default function Page({ data }: { data: { items: Item[] } }) {
     const groups = new Map<string, Item[]>();
     for (const item of data.items) {
       const group = [...(groups.get(item.state) ?? []), item];
       groups.set(item.state, group);
     }
     const names = [...groups.keys()].sort();
     let count = 0;
     data.items.forEach(() => { count += 1; });
     const last = data.items[data.items.length - 1];
     for (let i = 0; i < 3; i++) names.push(names[i]);
     return <React.Fragment>{names.map((name) => <p className={COLORS[name]} key={name}>{name}</p>)}{count}{last?.id}</React.Fragment>;
   }`,
  `'use client';
   import styles from './page.module.css';
   export const slots = { aside: Aside };
   function Aside({ data }) { return <aside className={styles.aside}>{JSON.stringify(data)}</aside>; }
   export default function Page() { if (process.env.NODE_ENV === 'x') return null; return <p>{import.meta.env.FX_PUBLIC_NAME}</p>; }`,
  page(
    'const list = data.text.split("").filter(Boolean).map(Number).toSorted((a, b) => a - b); const value = list.reverse().join(", ").replace(/a/g, "b")',
  ),
];

for (const [index, text] of PLAIN.entries()) {
  test(`nothing is found in page ${index + 1} of plain HTML`, () =>
    assert.deepEqual(ownReasonsOf(text), []));
}

test('a reason has its place in the file, types and all', () => {
  const text =
    'type A = {\n  b: string;\n};\n\nexport default (a: A) => <p onClick={a.b}>{a.b}</p>;';

  assert.deepEqual(ownReasonsOf(text), ['5: onClick']);
});
