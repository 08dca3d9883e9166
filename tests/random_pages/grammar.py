"""Random pages for the proof that a page needs no scripts: plain ones, and ones that nearly are.

Most of what is here is accepted by the proof, and the rest is close to what it accepts, so that
each list of `fxtrio/js/scripts/allowed.js` is met from both sides.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import attrs

from tests.random_pages.islands import RandomIslands

_IMPORTS = """\
import { Children, Fragment, createContext, isValidElement, memo } from 'react';
import { useContext, useId, useMemo } from 'react';
import { Head, Image, Link } from 'fx/client';
import { useData, useParams, usePathname, useSearchParams } from 'fx/client';
"""

_SHARED = """\
export const Theme = createContext('light');
export const TABLE = {{ a: 'one', b: 'two', c: <b>three</b> }};
export const LIST = ['x', 'y', 'z'];
export const seen = [];
export const found = new Map([['a', 1]]);
export const RULE = /(a)(.)?/;
export function help(a, b = 1) {{ return a === undefined ? b : a; }}
export const Row = memo(function Row({{ item, children }}) {{
  return <i id={{useId()}}>{{item}}{{children}}</i>;
}});
Row.displayName = 'Row';
export function Box({{ children, f, show, ...rest }}) {{
  const theme = useContext(Theme);
  return {box};
}}
"""

_NAMES = "Theme, TABLE, LIST, seen, found, RULE, help, Row, Box"

_PAGE = """\
{imports}
@server
async def load(request):
    return {data}

let count = 0;
{parts}{declarations}
export default function Page({{ data, params, ...props }}) {{
  const text = data.s; const total = data.n * 2;
  {statement}
  return <main>{body}</main>;
}}
"""

_PARTS = "const parts = { help, label: 'part', list: [help] };\n"

_DATA = (
    '{"n": 3, "f": 1.5, "s": "a <b> & \\"c\\"", "z": "", "no": None, "on": True, "list": [3, 1, 2],'
    ' "rows": [{"id": 1, "name": "a"}, {"id": 2, "name": "b\\n\\u00a0\\u2028"}],'
    ' "html": "<em>a</em> b", "key": "name", "big": 12345678901234567890, "map": {"a": {"b": 1}}}'
)

_BOXES = (
    "<section data-theme={theme}>{children}{show ? 'shown' : null}</section>",
    "<section>{Children.map(children, (one, i) => <em key={i}>{one}</em>)}</section>",
    "<section>{Children.toArray(children).length}{f?.(2)}</section>",
    "<section>{isValidElement(children) ? 'one' : 'more'}{children}</section>",
    "<section>{children?.type?.name}{children}</section>",
    "<section>{`${f}`}{children}</section>",
    "<section>{f?.name}{children}</section>",
    "<section {...rest}>{children}</section>",
    "<section>{Object.keys(rest).join()}{typeof rest.title}{children}</section>",
    "<section>{JSON.stringify(children?.props)}{children}</section>",
    "<section>{children?.props?.children}{String(children?.key)}</section>",
)

_ATTRIBUTES = (
    'className="a b"',
    "title={$}",
    "hidden={$}",
    "data-x={$}",
    "aria-label={$}",
    "id={useId()}",
    "lang={$}",
    "tabIndex={1}",
    "style={{ color: 'red', marginTop: $, '--x': $ }}",
    "style={{ width: 3, lineHeight: 2, WebkitLineClamp: 2 }}",
    "contentEditable",
    "draggable={$}",
    "spellCheck={false}",
    "inert={$}",
    "key={$}",
    "role={TABLE.a}",
    "className={$}",
    "dir={$ ? 'rtl' : undefined}",
    "translate='no'",
    "autoFocus",
    "suppressHydrationWarning",
    "title={help}",
    "itemProp={`${$}-x`}",
    "{...{ title: 'x' }}",
    "onClick={help}",
    "slot={$}",
    "popover='auto'",
)

_ELEMENTS = (
    ("p", "phrase"),
    ("div", "flow"),
    ("section", "flow"),
    ("h2", "phrase"),
    ("span", "phrase"),
    ("a", "text"),
    ("em", "phrase"),
    ("pre", "text"),
    ("code", "text"),
    ("button", "text"),
    ("label", "text"),
    ("blockquote", "flow"),
    ("details", "flow"),
    ("article", "flow"),
    ("textarea", "none"),
    ("svg", "svg"),
    ("table", "table"),
    ("ul", "items"),
    ("dl", "terms"),
    ("select", "options"),
    ("form", "phrase"),
    ("noscript", "none"),
    ("dialog", "flow"),
    ("ruby", "text"),
    ("math", "none"),
)

_LEAVES = (
    "<br />",
    "<hr />",
    "<wbr />",
    '<img src="/a.png" alt={$} />',
    '<img src={""} alt="" loading="lazy" />',
    "<input defaultValue={$} />",
    '<input type="checkbox" defaultChecked={$} />',
    '<input type="radio" name="r" value="1" defaultChecked />',
    '<input type="hidden" name="h" value={$} />',
    '<input type="range" min={2} max={8} defaultValue={5} />',
    '<input type="range" defaultValue={5} max={8} min={6} step={2} />',
    '<input type="number" defaultValue={"1."} />',
    '<input type="date" defaultValue="2020-01-01" />',
    '<input type="color" defaultValue={$} />',
    '<input type="email" multiple defaultValue=" a@b.c , d@e.f " />',
    "<input readOnly value={$} />",
    "<input disabled value={$} />",
    '<input type="submit" value={$} />',
    '<input type="radio" name="q" value={$} />',
    "<textarea defaultValue={$} />",
    '<textarea defaultValue={"\\n" + $} />',
    "<textarea readOnly value={$} />",
    '<select defaultValue={$}><option>a</option><option value="3">b</option></select>',
    '<select multiple defaultValue={["a", "b"]}><option>a</option><option>b</option></select>',
    '<select disabled value="b"><option>a</option><option>b</option></select>',
    "<option value={$}>x</option>",
    "<progress value={$} max={5} />",
    "<meter value={0.5} />",
    "<p dangerouslySetInnerHTML={{ __html: data.html }} />",
    "<div dangerouslySetInnerHTML={{ __html: `<p>${$}` }} />",
    '<pre dangerouslySetInnerHTML={{ __html: "\\n" + data.html }} />',
    '<iframe srcDoc="<p>a</p>" title="x" />',
    '<video controls src="/a.mp4" />',
    '<video autoPlay muted src="/a.mp4" />',
    '<audio src="/a.mp3" preload="none" />',
    '<object data="/a.svg" />',
    "<title>{`${$}`}</title>",
    "<title>Fixed</title>",
    '<meta name="x" content={`${$}`} />',
    '<link rel="canonical" href="/x" />',
    '<link rel="stylesheet" href="/a.css" precedence="low" />',
    '<link rel="stylesheet" href="/a.css" />',
    '<link rel="preload" as="image" href="/a.png" />',
    '<style href="s" precedence="low">{"p { margin: 0 }"}</style>',
    '<style>{"p > b { margin: 0 }"}</style>',
    "<Head><title>{$}</title></Head>",
    '<Head><meta name="y" content={`${$}`} /><link rel="me" href="/m" /></Head>',
    '<Head><html lang="de" /><body className="dark" /></Head>',
    '<Link href="/list">Go</Link>',
    '<Link href={`/${$}?a=1#b`} className="x">Go</Link>',
    '<Link href="" title={$}>Go</Link>',
    '<Link href="https://example.com/a">Go</Link>',
    '<Image src="/a.png" alt="" width={3} height={4} />',
    '<Image src="/a.png" alt={$} />',
    '<a href="javascript:void 0">J</a>',
    "<a href={$}>J</a>",
    "<custom-part a={$} />",
    "<template><p>{$}</p></template>",
    "<Theme.Provider value={$}><Box>in</Box></Theme.Provider>",
    '<Theme value="dark"><Box show={$} /></Theme>',
    "<Theme.Consumer>{(value) => <q>{value}</q>}</Theme.Consumer>",
    "<Box f={help} />",
    '<Box f={(n) => n + count} title="t" />',
    "<Box show={$} title={$}><Row item={$} /></Box>",
    "<Box>{$}</Box>",
    "<Row item={$}>{$}</Row>",
    '<svg viewBox="0 0 1 1"><path d="M0 0" strokeWidth={2} xlinkHref="#a" /><title>t</title></svg>',
    '<svg><foreignObject><p>{$}</p></foreignObject><style>{"a{}"}</style></svg>',
    '<button formAction="/x" name="a" value={$}>Go</button>',
    '<form action={`/x/${$}`} method="post"><button>Go</button></form>',
    '<map name="m"><area href="/x" alt="" /></map>',
    '<p is="x-p" />',
    '<output htmlFor="a">{$}</output>',
    '<time dateTime="2020">{$}</time>',
    '<body className="b" />',
    '<html lang="fr" />',
    "<head><title>h</title></head>",
)

_NODES = (
    "{$}",
    "{$}{$}",
    "text",
    " a &amp; b&nbsp;c ",
    "{' '}",
    "{'x \\r\\n y \\r z'}",
    "{'a\\u0000b'}",
    "{`${$}`}",
    "{data.rows.map((row) => <b key={row.id}>{row.name}</b>)}",
    "{data.rows.map((row, i) => <Fragment key={i}>{i}{row.id}</Fragment>)}",
    "{data.list.toSorted().join('-')}",
    "{[...data.list].sort().reverse()}",
    "{data.on && <i>{$}</i>}",
    "{data.no ?? <u>none</u>}",
    "{data.n > 2 ? <>{$}</> : null}",
    "{[<b key=\"1\">1</b>, 'two', null, 3]}",
    "{Object.entries(data.map).map(([key, value]) => <b key={key}>{key}{value.b}</b>)}",
    "{[...found.keys()]}",
    "{new Set(data.list)}",
    "{found}",
    "{useMemo(() => data.list.length, [data.list])}",
    "{useData().n}",
    "{JSON.stringify(useParams())}",
    "{usePathname().length}",
    "{useSearchParams().get('a')}",
    "{LIST.map((text) => <Row key={text} item={text} />)}",
    "{parts.list.map((f) => f($))}",
    "{parts.help.name}",
    "{parts.list[0].name}",
    "{`${parts.help}`.length}",
    "{[<Row item={1} />][0].type.displayName}",
    "{[<Box />][0].type.name}",
    "{String(help).length}",
    "{[help].join().length}",
    "{help('x').length}",
    "{parts.label}",
    "{TABLE[data.key] ?? TABLE.c}",
    "{seen.length}",
    "{count}",
    "{found.size}",
    "{RULE.exec(data.s)?.[1]}",
    "{'aXbX'.replace(/X/g, () => $)}",
)

_VALUES = (
    *("data.n", "data.s", "data.f", "data.z", "data.no", "data.on", "data.big", "'t'", "7", "-0"),
    *("true", "null", "undefined", "NaN", "data.rows[1].name", "data.list", "data.missing"),
    *("local", "text", "total", "TABLE.a", "LIST[1]", "help(2)", "count", "useId()", "0.1 + 0.2"),
    *("`x${data.n}`", "data.s.toUpperCase()", "data.f.toFixed(1)", "data.list.join('+')"),
    *("data.s.slice(1, 3)", "Math.max(...data.list)", "Number('12')", "1n", "[1, [2]]", "1e21"),
    *("String(data.on)", "encodeURIComponent(data.s)", "data.list.includes(3)", "typeof data.no"),
    *("data.list.at(-1)", "Math.random()", "new Date(0).getHours()", "data.big.toLocaleString()"),
    *("data.s.split('').length", "Object.keys(data).length", "JSON.stringify(data.map)"),
    *("(1.005).toFixed(2)", "parseFloat('3.14abc')", "Array.from({ length: 2 }, (_, i) => i)"),
    *("data.rows.find((row) => row.id === 2)?.name", "data.s.normalize('NFD')", "'\\u00e9'"),
    *("data.s.at(0).codePointAt(0)", "new URLSearchParams({ a: data.s }).toString()"),
    *("Math.round(-0.5)", "data.list.reduce((a, b) => a + b, 0)", "data.s.localeCompare('b')"),
    *("new Error('e').message", "[3, 20, 1].sort().join()", "parts.help(4)", "data.s.length"),
    *("Object.is(-0, 0)", "isFinite(data.n)", "void 0", "data.key in data", "!data.z"),
)

_DECLARATIONS = (
    "const OTHER = LIST.map((one) => one + '!');",
    "const total0 = [1, 2].reduce((a, b) => a + b, 0);",
    "const next = (() => { let n = 0; return () => ++n; })();",
    "const cache = {};",
    "const made = Array.from({ length: 3 }, (_, i) => i * 2);",
    "export const slots = {};",
    "const again = /a/g;",
    "const left = [1, 2][Symbol.iterator];",
    "const iterator = [1, 2].values();",
    "LIST.push('more');",
    "const { a: first, ...others } = TABLE;",
    "const get = ({ x = 1 } = {}) => x;",
    "const holder = { get n() { return seen.length; } };",
    "const doubled = new Map([...found].map(([k, v]) => [k, v * 2]));",
)

_STATEMENTS = (
    "let local = $; if (data.on) local = $;",
    "let local = 0; for (const one of data.list) local += one;",
    "let local = ''; for (const key in data.map) local += key;",
    "let local = 0; data.list.forEach((one) => { local += one; });",
    "let local = []; local.push($); local = local.length;",
    "const local = [...data.list, 4].toSorted((a, b) => b - a).join();",
    "const { n: local = 1 } = data;",
    "const [local] = data.list;",
    "const box = { a: 1 }; box.b = $; const local = Object.keys(box).join();",
    "const own = new Map(); own.set('a', $); const local = own.get('a');",
    "const own = [...data.rows]; own.sort((a, b) => b.id - a.id); const local = own[0].name;",
    "data.list.sort(); const local = data.list[0];",
    "count += 1; const local = count;",
    "seen.push(1); const local = seen.length;",
    "found.set('b', seen.length); const local = found.size;",
    "const alias = seen; alias.push(2); const local = alias.length;",
    "const f = () => seen.push(1); f(); const local = 1;",
    "const add = (list) => { list.push(1); return list.length; }; const local = add(seen);",
    "const local = [seen].map((list) => list.push(1))[0];",
    "data.rows.forEach((row) => { row.name += '!'; }); const local = 1;",
    "const rows = data.rows.map((row) => row); rows[0].seen = true; const local = 1;",
    "const [row] = data.rows; row.name = 'changed'; const local = row.name;",
    "const copy = { ...data }; copy.n = 5; const local = copy.n;",
    "const copy = { ...data }; copy.list.push(9); const local = copy.list.length;",
    "const copy = data.rows.slice(); copy[0].name = 'new'; const local = 1;",
    "const local = useMemo(() => { let n = 0; for (const one of data.list) n += one; return n; });",
    "const local = useMemo(() => ++count, []);",
    "let i = 0; while (i < 3) i++; const local = data.list[i - 1];",
    "let local; switch (data.n) { case 3: local = $; break; default: local = 0; }",
    "let local = 1; do { local *= 2; } while (local < 10);",
    "const local = data.list.map(String).filter(Boolean).join('');",
    "const local = data[data.key];",
    "let local = 1; outer: for (const a of LIST) { if (a === 'y') break outer; local++; }",
    "const make = () => { let n = 0; return () => ++n; }; const local = make()();",
    "const local = data.list.find((one) => one > 1) ?? seen.push(3);",
    "if (data.missing) throw new Error('missing'); const local = 1;",
    "let local = 0; ({ n: local } = data);",
    "const it = found.entries(); const local = it.next().value[1];",
    "const local = [...found.entries()].flat().join();",
    "const local = ((a, ...rest) => rest.length)(...data.list);",
    "const key = 'name'; const local = data.rows[0][key];",
    "let local = 'a'; local ||= 'b'; local += RULE.test(data.s);",
    "const local = data.s.replaceAll('a', (m) => m.toUpperCase());",
    "const local = (parts.label = 'changed');",
    "const { list } = parts; list.length = 0; const local = list.length;",
    "const local = Object.values(parts).length;",
)


_REJECTED = re.compile(
    r"parts|onClick|\{\.\.\.|custom-|muted|is=|Consumer|f=|\$\{f\}|name\}|random|Date|Locale"
    r"|help\}|localeCompare|Error|seen|count( \+=|\+\+)|\+\+count|found\.set|alias|Symbol|label ="
    r"|value=\{\$\} />|String\(help|\[help|data\.list\.sort|row\.name =|\.seen =|copy\.list|/g;"
    r"|copy\[0\]|data\[data|<template|<head|\.values\(\);|LIST\.push"
    r"|length = 0|get n\(\)|make|const next"
)
"""What the proof does not accept; rare, so that most pages have none of it."""


class _Page:
    """Chooses from the lists, by one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def some(self, options: tuple[str, ...], most: int) -> list[str]:
        """Return up to ``most`` of ``options``, filled in."""
        chosen = dict.fromkeys(self.one(options) for _ in range(self.chance.randint(0, most)))
        return [self.filled(one) for one in chosen]

    def one(self, options: Sequence[str]) -> str:
        """Return one of ``options``, seldom one that is not accepted."""
        chosen = self.chance.choice(options)
        if _REJECTED.search(chosen) and self.chance.random() < 0.95:
            return self.one(options)
        return chosen

    def filled(self, text: str) -> str:
        """Replace each ``$`` with a value; those of template literals remain."""
        head, *rest = text.replace("${", "\0").split("$")
        for part in rest:
            head += self.one(_VALUES) + part
        return head.replace("\0", "${")

    def node(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.3:
            return self.filled(self.one(_NODES))
        if kind < 0.55:
            return self.filled(self.one(_LEAVES))
        return self.element(depth)

    def harmless(self, make: Callable[[], str]) -> str:
        """Return what the proof would accept, as code of islands has to be the same twice."""
        while _REJECTED.search(text := make()):
            pass
        return text

    def element(self, depth: int) -> str:
        name, content = self.chance.choice(_ELEMENTS)
        attributes = "".join(f" {one}" for one in self.some(_ATTRIBUTES, 2))
        return f"<{name}{attributes}>{_CONTENT[content](self, depth - 1)}</{name}>"

    def nodes(self, depth: int) -> str:
        return "".join(self.node(depth) for _ in range(self.chance.randint(0, 3)))


def _texts(page: _Page, _depth: int) -> str:
    return "".join(page.some(_NODES, 2))


_CONTENT: dict[str, Callable[[_Page, int], str]] = {
    "flow": _Page.nodes,
    "phrase": _texts,
    "text": _texts,
    "none": lambda _page, _depth: "",
    "svg": lambda page, _: page.filled("<g fill='red'><text x={1}>{$}</text></g>"),
    "table": lambda page, _: page.filled(
        page.chance.choice(
            (
                "<tbody><tr><td colSpan={2}>{$}</td></tr></tbody>",
                "<caption>{$}</caption><colgroup><col span={2} /></colgroup><tbody />",
                "<tbody> <tr><td>{$}</td></tr></tbody>",
            )
        )
    ),
    "items": lambda page, depth: f"<li>{page.nodes(depth)}</li>",
    "terms": lambda page, _: page.filled("<dt>{$}</dt><dd>{$}</dd>"),
    "options": lambda page, _: page.filled(
        "<option>{$}</option><optgroup label='g'><option value={$}>b</option></optgroup>"
    ),
}


@attrs.frozen
class RandomPage:
    """A page, and what it imports."""

    text: str
    modules: dict[str, str]
    """By the name of the file in the folder ``parts``."""


LAYOUT = """\
import { Head, Link, usePathname } from 'fx/client';

export default function Layout({ children, data }) {
  const path = usePathname();
  return (
    <>
      <Head><meta name="layout" content={path.length > 3 ? 'deep' : 'flat'} /></Head>
      <nav><Link href="/">Home</Link></nav>
      {children}
      <footer id={JSON.stringify(data)}>{path.split('/').length}</footer>
    </>
  );
}
"""
"""Around all pages."""


def random_page(seed: int) -> RandomPage:
    """Return a page. The same seed gives the same one."""
    page = _Page(random.Random(seed))
    statement = page.filled(page.one(_STATEMENTS))
    declared = "\n".join(page.some(_DECLARATIONS, 1))
    body = "".join(page.node(2) for _ in range(page.chance.randint(1, 3)))
    shared = _SHARED.format(box=page.one(_BOXES))
    modules: dict[str, str] = {}
    imports = f"{_IMPORTS}\n{shared.replace('export ', '')}"
    if page.chance.random() < 0.6:
        source = f"{seed}.jsx"
        modules[source] = f"{_IMPORTS}\n{shared}"
        if page.chance.random() < 0.5:
            source = f"{seed}-all.js"
            modules[source] = page.chance.choice(
                (f"export * from './{seed}.jsx';", f"export {{ {_NAMES} }} from './{seed}.jsx';")
            )
        imports = f"{_IMPORTS}import {{ {_NAMES} }} from '@/parts/{source}';\n"
    if page.chance.random() < 0.3:
        islands = RandomIslands(page.one, page.filled, seed)
        live = f"{seed}-live.jsx"
        modules[live] = islands.module(
            _SHARED.format(box=page.harmless(lambda: page.one(_BOXES))),
            lambda: page.harmless(lambda: page.filled(page.one(_STATEMENTS))),
            lambda: page.harmless(lambda: page.node(2)),
        )
        body = islands.markup() + body if page.chance.random() < 0.5 else body + islands.markup()
        imports += f"import {{ Island }} from 'fx/client';\nimport Live from '@/parts/{live}';\n"
    text = _PAGE.format(
        imports=imports,
        data=_DATA,
        parts=_PARTS if "parts" in f"{statement}{body}" else "",
        declarations=declared,
        statement=statement,
        body=body,
    )
    return RandomPage(text, modules)
