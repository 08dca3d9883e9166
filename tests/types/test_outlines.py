"""Texts with one outline get one answer of the compiler: what `fx dev` leaves out is nothing."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.compile.project import check_project
from fxtrio.config import Config
from fxtrio.node import find_node
from fxtrio.tools.types.gather.gatherer_process import project_types
from fxtrio.tools.types.report.checking import TypeCheck
from fxtrio.tools.types.report.compiler import Diagnostic, compile_types, ensure_compiler
from fxtrio.tools.types.ui.virtual_project import TypesFolder
from tests.trees import write_tree

LOADER = """@server
async def load(request):
    return {"title": "One", "price": 2, "note": None if request.query_params else {"text": "a"}}


@action
async def add(request):
    return {"id": 1}


"""
PAGES = (
    """import { useState } from "react";
import { Form, Link, useAction } from "fx/client";

// a note beside
export default function Page({ data }) {
  const [open, setOpen] = useState(false);
  const add = useAction("add");
  return (
    <main className="wide">
      {/* what is shown */}
      <h1 title="a title">{data.title} costs {data.price.toFixed(2)} now</h1>
      <p>some words</p>
      <Row note={data.title}>inside of it</Row>
      <Link href="/page0">back</Link>
      <Form action="add"><input name="id" placeholder="id" /> send </Form>
      <button id="go" onClick={() => setOpen(!open)}>{open ? "yes" : "no"} {add.error}</button>
    </main>
  );
}

/* one of the rows */
function Row({ note, children }) {
  return <p className="row">{note.toUpperCase()} and {children} of it</p>;
}
""",
    """// findings
export default ({ data }) => (
  <ul className="list">
    <li>{data.titel} a text</li>
    <li aria-label="b">{data.note.text} {/* of it */}</li>
    {[1, 2].map((each) => <li key={each}>item {each < 2 ? `a ${each}` : null} end</li>)}
  </ul>
);
""",
    """import type { ReactNode } from "react";

/* with types */
type Only = { children: string; kind: "a" | "b" };
const One = ({ children, kind }: Only): ReactNode => <b className={kind}>{children} of one</b>;
const Two = (props: { children: [string, ReactNode] }) => <i>{props.children}</i>;

export default function Page({ data }: { data: { title: string; price: number } }) {
  return (
    <p id="typed">
      <One kind="a">only text</One>
      <Two>a text{data.price}</Two> or {data.title satisfies string} else
    </p>
  );
}
""",
)
WORDS = (
    *("a", "Row", "note", "data", "{data.title}", "{data.none}", "<b>x</b>", "</p>", "<i />", "/>"),
    *('<i className="x" />', 'className="other" ', "id='x' ", "key={1} ", "//", "/* x */", "///"),
    *(
        "/** @type {number} */",
        "@ts-ignore",
        "// @ts-expect-error\n",
        "export ",
        "function ",
        "as ",
    ),
    *(
        "const a = ",
        "import ",
        'class="',
        '"use client"',
        "&amp;",
        "&nbsp;",
        "\xa0",
        "null",
        "some",
    ),
    *"()[]{}<>=;:,.!?&|'\"`$/\\-+012@#\n",
    *("=>", "${", "{`", "two words", "two\nlines", "1 > 0", "a < b"),
)
EACH = 300
"""Texts that are made of each page (count)."""


def other_texts(page: str, chance: random.Random) -> Iterator[str]:
    for _ in range(EACH):
        text = page
        for _ in range(chance.choice((1, 1, 1, 2))):
            start = chance.randrange(len(text))
            end = min(len(text), start + chance.choice((0, 0, 0, 1, 2, 5)))
            put = chance.choice((chance.choice(WORDS), " ", "\n  ", "more", ""))
            text = text[:start] + put + text[end:]
        yield text


async def outlines_of(texts: list[str]) -> list[str | None]:
    vite = await ensure_toolchain(print) / "node_modules" / "vite" / "dist" / "node" / "index.js"
    node = find_node().node
    script = Path(__file__).with_name("outlines.mjs")
    command = [
        str(node),
        str(script),
        (JS / "develop" / "updates" / "outline.js").as_uri(),
        vite.as_uri(),
    ]
    done = await trio.run_process(command, stdin=json.dumps(texts).encode(), capture_stdout=True)
    found: list[str | None] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("seed", range(2))
async def test_texts_with_one_outline_have_the_same_findings(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    texts = [text for page in PAGES for text in (page, *other_texts(page, chance))]
    outlines = await outlines_of(texts)
    groups: dict[str, list[str]] = defaultdict(list)
    for text, outline in zip(texts, outlines, strict=True):
        if outline is not None and text not in groups[outline]:
            groups[outline].append(text)
    alike = [group for group in groups.values() if len(group) > 1]
    assert sum(map(len, alike)) > 30

    pages = {
        f"pages/g{number}x{member}.fxl": LOADER + "# --- ui ---\n" + text
        for number, group in enumerate(alike)
        for member, text in enumerate(group)
    }
    write_tree(tmp_path, pages)
    project = check_project(tmp_path, Config())
    findings: dict[str, list[tuple[int, str]]] = defaultdict(list)

    async def compile_noting(
        folder: Path, compiler: Path, changed: frozenset[str] | None
    ) -> tuple[Diagnostic, ...]:
        found = await compile_types(folder, compiler)
        for one in found:
            source = one.path.rpartition(".")[0]
            findings[source].append((one.code, one.whole.replace(source, "")))
        return found

    folder = TypesFolder(tmp_path, await ensure_compiler(print))
    check = TypeCheck(folder, compile=compile_noting)
    problems = await check.run(project, await project_types(tmp_path, project))

    for number, group in enumerate(alike):
        sources = [f"pages/g{number}x{member}.fxl" for member in range(len(group))]
        counts = {source: sum(one.path == source for one in problems) for source in sources}
        quiet = [source for source in sources if source not in check.findings_in]
        for source, text in zip(sources, group, strict=True):
            assert sorted(findings[source]) == sorted(findings[sources[0]]), (group[0], text)
        assert len(quiet) in (0, len(sources)), group
        assert not any(counts[source] for source in quiet), group
