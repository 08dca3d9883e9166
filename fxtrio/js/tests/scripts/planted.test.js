/** Ways to need scripts that were written down without a look at the lists: each is found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ownReasonsOf, page, prove } from './proving.js';

const PARTS = `import { createContext, memo, useContext, useMemo, Children } from 'react';
const Row = ({ a }) => <i>{a}</i>;
const Theme = createContext(1);
const TABLE = { n: 1, list: [1] };
`;

/** What a component does with all that it gets. @param {string} code */
const outer = (code) =>
  `const Outer = (props) => ${code};\nexport default () => <Outer><Row /></Outer>;`;

/** What shows the types of all elements in a list. */
const TYPES = 'map((one) => `${one.type}`)';

/** Code of one module, behind `PARTS`. @type {Record<string, string[]>} */
const WAYS = {
  'functions that list all, and are passed on': [
    page('const value = [<Row />].map(Object.values).join()'),
    page('const value = [<Row />].flatMap(Object.entries).join()'),
    page('const value = Array.from([<Row />], Object.values).join()'),
    page('const all = Object.values; const value = all(<Row />).join()'),
    page('const value = ((f) => f(<Row />))(Object.values).join()'),
  ],
  'contexts and functions of React as objects': [
    page('const value = Object.values(Theme).join()'),
    page('const value = Object.entries(Theme).map(([key, one]) => String(one))'),
    page('const { ...all } = Theme; const value = Object.values(all).join()'),
    page('const value = Object.values({ ...Theme }).length'),
    page('const value = [Theme].map((one) => Object.values(one)).join()'),
    page('const value = Object.values(Children).join()'),
    page('const value = Object.entries(Children).map(([, one]) => one.name)'),
    page('const { map } = Children; const value = map.name'),
    page('const value = Children.map.name'),
    page('const value = String(Children.map)'),
    page('const value = Object.values({ ...Children }).join()'),
  ],
  'objects that others have, out of lists of its own': [
    page('const l = [TABLE]; l.pop().n += 1; const value = TABLE.n'),
    page('const l = [TABLE.list]; l.shift().push(1); const value = TABLE.list.length'),
    page('[TABLE].pop().n++; const value = TABLE.n'),
    page('const a = [TABLE.list]; a.concat(1).pop().push(1); const value = 1'),
  ],
  'methods that change what they are called on, and are on no list': [
    `const KIND = /a/;\n${page('KIND.compile("b"); const value = 1')}`,
    `const SEEN = new Map();\n${page('SEEN.getOrInsert("a", data.b); const value = SEEN.size')}`,
    page('data.list.whatComesNext(); const value = 1'),
  ],
  'what the language leaves open': [
    page('const value = data.n.toString(3)'),
    page('const value = (0.1).toString(data.radix)'),
    page('const value = data.list.toSorted((a, b) => a > b)'),
    page('const value = [...data.list].sort((a, b) => a.n < b.n || a.n === 1).join()'),
    page('const by = (a, b) => { return a.n < b.n; }; const value = data.list.toSorted(by)'),
  ],
  'elements that browsers do not read as they are written': [
    ...['plaintext', 'xmp', 'noembed', 'noframes', 'bgsound', 'basefont', 'frame', 'listing'].map(
      (name) => page(`<${name}>{data.a}</${name}>`),
    ),
    ...['frameset', 'selectedcontent', 'isindex', 'menuitem', 'fencedframe', 'svg:g', 'dIV'].map(
      (name) => page(`<${name} />`),
    ),
    page('<base href="/a/" />'),
    page('<div><image href="/a.png" /></div>'),
    page('<iframe title="a"><b>a</b></iframe>'),
    page('<iframe title="a">{data.text}</iframe>'),
    page('<iframe title="a" srcDoc={data.html} />'),
    page('<svg><mi><p>a</p></mi></svg>'),
    page('<math><title><p>a</p></title></math>'),
    page('<svg><math><mi><p>a</p></mi></math></svg>'),
    page('<math><mi><mglyph><p>a</p></mglyph></mi></math>'),
    page('<svg><foreignObject><td>a</td></foreignObject></svg>'),
    page('<math><mi><tr /></mi></math>'),
    page('<math><mn><p><s><mtext><fieldset /></mtext></s></p></mn></math>'),
    page('<ul><li><search><b><li>a</li></b></search></li></ul>'),
    page('<dl><dd><dialog><dt>a</dt></dialog></dd></dl>'),
    page('<ruby><p>a<rt>b</rt></p></ruby>'),
    page('<ruby><li>a<rp>b</rp></li></ruby>'),
  ],
  'all that a component gets, on a detour': [
    `const page = (props) => <div>{Object.values(props).flat().${TYPES}}</div>;\nexport default page;`,
    `const row = (props) => <div>{Object.values(props).${TYPES}}</div>;\nexport { row as Line };`,
    `const row = (props) => <div>{Object.values(props).${TYPES}}</div>;\nconst Line = memo(row);`,
    page(`const l = [props]; const value = Object.values(l[0]).${TYPES}`),
    page(`const o = { props }; const value = Object.values(o.props).${TYPES}`),
    page(
      `const l = new Set([props]); const value = [...l].map((one) => Object.values(one)).${TYPES}`,
    ),
    page(`const f = (all) => Object.values(all); const value = [props].map(f).flat().${TYPES}`),
    page(`let all; all = props; const value = Object.values(all).${TYPES}`),
    page(`const value = Object.values(data.a ? props : data).${TYPES}`),
    page(`const value = Object.values(props ?? data).${TYPES}`),
    page(`const value = Object.values({ ...(data.a && props) }).${TYPES}`),
    `const Inner = ({ all }) => <div>{Object.values(all).${TYPES}}</div>;\n${outer('<Inner all={props} />')}`,
    `const Inner = () => <div>{Object.values(useContext(Theme)).${TYPES}}</div>;\n${outer('<Theme value={props}><Inner /></Theme>')}`,
    outer(`{ const m = new Map(); m.set(1, props); return Object.values(m.get(1)).${TYPES}; }`),
    outer(`{ const keep = () => props; return Object.values(keep()).${TYPES}; }`),
    outer(`Object.values(useMemo(() => props, [])).${TYPES}`),
    `function Outer(...all) { return Object.values(all[0]).${TYPES}; }\nexport default Outer;`,
  ],
  'types of elements, on a detour': [
    page('const value = [<Row />].map(({ ["type"]: t }) => String(t))'),
    page('const f = (one) => String(one.type); const value = [<Row />].map(f)'),
    page('const f = ({ type: t }) => String(t); const value = [children].flatMap(f)'),
    page('const { ["icon"]: one } = { ["icon"]: <Row /> }; const value = `${one.type}`'),
  ],
};

for (const [group, texts] of Object.entries(WAYS)) {
  test(`found: ${group}`, () => {
    const missed = texts.filter((text) => ownReasonsOf(PARTS + text).length === 0);
    assert.deepEqual(missed, []);
  });
}

const SLOTS = 'export const slots = { side: () => <i /> };\nexport default () => <p />;';

/** Names under which a module may pass on the slots of a page. @type {[string, string][]} */
const PASSED_ON = [
  ["export { slots as all } from './pages/b.fxl';", 'import { all } from'],
  ["export { slots as default } from './pages/b.fxl';", 'import all from'],
  ["export { slots } from './pages/b.fxl';", 'import { slots as all } from'],
  ["export * from './pages/b.fxl';", 'import { slots as all } from'],
  ['export const slots = { side: () => <i /> };', 'import { slots as all } from'],
];

test('found: slots of another page that a module passes on', async () => {
  for (const [exported, imported] of PASSED_ON) {
    const files = {
      'pages/index.fxl': `${imported} '../x.jsx';\nexport default () => <p>{all.side.name}</p>;`,
      'x.jsx': exported,
      'pages/b.fxl': SLOTS,
    };
    const [found] = await prove(files, ['pages/index.fxl'], ['pages/b.fxl']);

    assert.notDeepEqual(found, [], exported);
  }
});

test('what is like these, and needs no scripts', () => {
  const plain = [
    page('const value = Object.keys(data.all).map(String).join()'),
    page('const value = data.list.toSorted((a, b) => a.n - b.n || (a.s < b.s ? -1 : 1)).length'),
    page('const value = Math.round(data.n).toString(16) + (255).toString(16) + data.n.toString()'),
    page('const l = [3]; l.reverse().push(1); l.splice(0, 1).push(2); const value = l.join()'),
    page('const value = data.text.normalize().trim().split(",").filter(Boolean).at(-1)'),
    page('const Other = Theme; const value = useContext(Other)'),
    `export { Theme };\nTheme.displayName = 'Theme';\n${page('<Theme value={data.theme}><Row /></Theme>')}`,
    page('<>{Children.map(children, (one) => <b>{one}</b>)}{Children.count(children)}</>'),
    page('<ruby>a<rp>(</rp><rt>b</rt></ruby>'),
    page('<svg><linearGradient><stop offset="5%" /></linearGradient><image href="/a.png" /></svg>'),
    page('<math><mfrac><mi>a</mi><mn>2</mn></mfrac></math>'),
    page('<iframe title="a" src="/a" />'),
  ];

  assert.deepEqual(
    plain.map((text) => ownReasonsOf(PARTS + text)),
    plain.map(() => []),
  );
});
