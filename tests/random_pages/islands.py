"""Random islands: components with state that a page shows, and how it shows them.

What they render is as random as the pages. They differ from pages in what the rules of islands
leave out: ids of `useId`, contexts of the page, and properties that are not JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LIVE = """\
import {{ Children, Fragment, createContext, isValidElement, memo }} from 'react';
import {{ useContext, useEffect, useMemo, useReducer, useRef, useState }} from 'react';
import {{ Head, Image, Island, Link, useParams, usePathname, useSearchParams }} from 'fx/client';
import {{ Inner }} from './inner.jsx';
{shared}
let count = 0;
const parts = {{ help, label: 'part', list: [help] }};

{opening}({{ data, label, children }}) {{
  const text = data.s; const total = data.n * 2;
  {statement}
  {state}
  return <section>{{label}}{body}{own}{{children}}</section>;
}}{closing}
"""

INNER = """\
import { useEffect, useState } from 'react';

export function Inner({ start = 0 }) {
  const [n, setN] = useState(start);
  const [text, setText] = useState('inner');
  useEffect(() => setText('inner lives'), []);
  return <button type="button" onClick={() => setN(n + 1)}>{text} {n}</button>;
}
"""
"""The file ``inner.jsx``, which all of them import."""

_STATES = (
    "const [n, set] = useState(data.n);",
    "const [n, set] = useState(0); useEffect(() => set(7), []);",
    "const [n, set] = useState(() => data.list.length);",
    "const [n, set] = useReducer((old, next) => old + next, 2);",
    "const [n, set] = useState(0); const at = useRef(0); useEffect(() => { at.current = n; });",
    "const [n, set] = useState(0); useEffect(() => { const t = setTimeout(() => set(4), 5);"
    " return () => clearTimeout(t); }, []);",
)

_OWN = (
    '<button type="button" onClick={() => set(n + 1)}>{n}</button>',
    "<button type='button' onClick={() => set(n + 1)}>more</button>{n % 2 === 0 && <b>even</b>}",
    "<input value={n} onChange={(event) => set(Number(event.target.value))} />"
    "<button type='button' onClick={() => set(9)}>9</button>",
    "<button type='button' onClick={() => set(n + 2)} className={`c${n}`}>x</button>",
    "{Array.from({ length: n }, (_, i) => <i key={i}>{i}</i>)}"
    "<button type='button' onClick={() => set(n + 1)}>one more</button>",
    "<Inner start={n} /><button type='button' onClick={() => set(n + 1)}>out</button>",
    "<Island when='visible'><Inner start={n} /></Island>",
    "<p ref={(one) => { if (one) one.dataset.seen = 'yes'; }}>{n}</p>"
    "<button type='button' onClick={() => set(n + 1)}>ref</button>",
    "<Theme value='dark'><Box show={n}>{n}</Box></Theme>"
    "<button type='button' onClick={() => set(n + 1)}>theme</button>",
    "<form onSubmit={(event) => { event.preventDefault(); set(n + 5); }}>"
    "<button>{`sent ${n}`}</button></form>",
    "<details open={n > 3}><summary onClick={() => set(n + 1)}>{n}</summary>in</details>",
)

_PLACES = (
    "<Island><Live data={data} /></Island>",
    '<Island when="idle"><Live data={data} label={$} /></Island>',
    '<Island when="visible"><Live data={data} label={$} /></Island>',
    "<Island><Live data={data}>{$}</Live></Island>",
    '<Island className="own"><Live {...{ data }} label="spread" /></Island>',
    "<Box><Island><Live data={data} label={$} /></Island></Box>",
    '<p>{$}</p>{data.on && <Island when="visible"><Live data={data} /></Island>}',
    "<table><tbody><tr><td>{$}</td>"
    '<Island as="td" when="visible"><Live data={data} /></Island></tr></tbody></table>',
    '<ul>{data.rows.map((row) => <Island key={row.id} as="li" when="visible">'
    "<Live data={data} label={row.name} /></Island>)}</ul>",
    "{data.rows.map((row, i) => <Island key={i}><Live data={data} label={i} /></Island>)}",
    "<Island><Live data={{ ...data, list: [] }} /></Island>",
    '<Island><Live data={data} /></Island><Island when="idle"><Live data={data} /></Island>',
)
"""How a page shows one; nothing around it hides it, or one that waits to be seen would wait."""

_NOT_INSIDE = re.compile(
    r"useId|useData|Head|<title|<body|<html|<head|<meta|<link|<style|autoFocus|Row item"
)
"""What an island has not as a page has it, or what React puts into the head in another order."""

_NOT_JSON = re.compile(r"NaN|1n|useId|parts|help|local|total0")
"""What is no JSON, or is not known where the page shows the island."""

EXPORTS = (
    ("export default function Live", ""),
    ("function Live", "\nexport default memo(Live);"),
    ("const Plain = function Live", "\nexport { Plain as default };"),
)


class RandomIslands:
    """Islands of one page. ``one`` chooses from a list, and ``filled`` puts values into a text."""

    def __init__(
        self, one: Callable[[tuple[str, ...]], str], filled: Callable[[str], str], number: int
    ) -> None:
        self._one = one
        self._filled = filled
        self._opening, self._closing = EXPORTS[number % len(EXPORTS)]

    def markup(self) -> str:
        """Return how the page shows them."""
        while True:
            place = self._filled(self._one(_PLACES))
            if not _NOT_JSON.search(place):
                return place

    def module(self, shared: str, statement: Callable[[], str], body: Callable[[], str]) -> str:
        """Return the file of their component, which is named ``Live`` where it is imported."""
        return _LIVE.format(
            shared=shared.replace("export ", "").replace(" id={useId()}", ""),
            opening=self._opening,
            closing=self._closing,
            statement=_until_fitting(statement),
            state=self._one(_STATES),
            body=_until_fitting(body),
            own=self._one(_OWN),
        )


def _until_fitting(choose: Callable[[], str]) -> str:
    while _NOT_INSIDE.search(text := choose()):
        pass
    return text
