"""Declarations lead a path to the page that the server finds, and stay small."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec

from fxtrio.compile.bundling.installation import JS
from fxtrio.config import Config
from fxtrio.routes.router import Router
from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.report.compiler import compile_types, ensure_compiler
from fxtrio.tools.types.ui.extra_paths import other_paths
from fxtrio.tools.types.ui.path_tree import routes_module

PATTERNS = (
    *("/", "/a", "/a/[x]", "/a/[x]/b", "/a/[x]/[y]/c", "/a/b", "/a/c/[...more]", "/[top]/b/d"),
    *("/files/[...path]", "/files/[one]", "/docs/[[...path]]", "/docs/new", "/b/[x]/a", "/b/[x]"),
    *("/c/[[...deep]]", "/c/[x]/b", "/d/[...all]", "/d/[x]/a/[[...after]]", "/'\"`$/x"),
    *("/w/a b", "/w/ü", "/w/q&a", "/w/[x]"),
)
UNKNOWN = {
    "`/a/${number}`": "/a/[x]",
    "`/a/${string}/b`": "/a/[x]/b",
    "`/a/${string}/${any}/c?q=${any}#top`": "/a/[x]/[y]/c",
    "`/a/${any}/d`": "open",
    "`/a/${'b' | 'e'}/${string}/c`": "/a/[x]/[y]/c",
    "`/files/${any}/${any}`": "/files/[...path]",
    "`/docs/${any}?x`": "/docs/[[...path]]",
    "`/doc/${any}`": "",
    "`/${string}s/1/2`": "open",
    "`/x${string}/b/d`": "/[top]/b/d",
    "`${string}/a`": "open",
    "`${any}/a`": "open",
    "`a/${any}`": "",
    "`${string}?tab=1`": "open",
    "`${string}#x`": "open",
    "`${string}?page=${number}#x`": "open",
    "`${any}?x`": "open",
    "`/a/${string}?x`": "/a/[x]",
    "'/w/a%20b'": "/w/a b",
    "'/w/a b'": "/w/a b",
    "'/w/%C3%BC'": "/w/ü",
    "'/w/q&a'": "/w/q&a",
    "'/w/q%26a'": "/w/q&a",
    "'/w/%C3%BCb'": "/w/[x]",
    "any": "open",
    "string": "open",
}
"""What links with values in them lead to; "open" where that depends on the values."""


HEAD = 'import type { At, Outside } from "fx/paths";'
FILES = {
    "img/a b.png": ("/img/a b.png", "/img/a%20b.png"),
    "é.png": ("/é.png", "/%C3%A9.png"),
    "a (1)&.pdf": ("/a%20(1)&.pdf", "/a%20(1)%26.pdf", "/a%20%281%29%26.pdf"),
    "100%.txt": ("/100%25.txt",),
}
"""The links that lead to public files."""


def page_of(pattern: str) -> PageTypes:
    found = {"source": f"pages{pattern}.fxl", "kind": "page", "pattern": pattern}
    return msgspec.convert(found, PageTypes)


async def test_a_path_leads_to_the_page_that_the_server_finds(tmp_path: Path) -> None:
    router = Router((one, one) for one in PATTERNS)
    draw = random.Random(1)
    parts = ["a", "b", "c", "d", "docs", "files", "new", "x", "'\"`$"]
    paths = {"/" + "/".join(draw.choices(parts, k=draw.randint(0, 5))) for _ in range(900)}
    paths |= {"/docs/new", "/b/c/a", "/x/b/d", "/a/a/x/c", "/d/a", "/c/a/b", "/'\"`$/x"}
    paths |= {"/w/a b", "/w/ü", "/w/q&a", "/w/x"}
    hits = {path: router.match(path) for path in sorted(paths)}
    expected = {json.dumps(path): "" if hit is None else hit[0] for path, hit in hits.items()}
    numbers: dict[str, object] = {one: number for number, one in enumerate(PATTERNS)}
    numbers |= {"": "none", "open": "open"}
    lines = [
        f"export const t{index}: [At<{text}>] extends [never] ? 'none' : At<{text}>"
        f" = {json.dumps(numbers[to])};"
        for index, (text, to) in enumerate({**expected, **UNKNOWN}.items())
    ]
    for name in FILES:
        (tmp_path / "public" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "public" / name).write_text("", "utf-8")
    links = {json.dumps(link): "0" for links in FILES.values() for link in links}
    for index, (link, to) in enumerate({**links, '"/img/b%20b.png"': "'none'"}.items()):
        found = f"[Outside<{link}>] extends [never] ? 'none' : Outside<{link}>"
        lines.append(f"export const f{index}: {found} = {to};")
    others = other_paths(tmp_path, Config())
    routes = routes_module([page_of(one) for one in PATTERNS], others)
    (tmp_path / "routes.d.ts").write_text(routes, "utf-8")
    (tmp_path / "paths.ts").write_text("\n".join([HEAD, *lines]), "utf-8")
    lookup = (JS / "types" / "paths.d.ts").as_posix()
    names = {"fx/routes": ["./routes.d.ts"], "fx/paths": [lookup]}
    options = {"lib": ["es2023"], "noEmit": True, "strict": True, "types": [], "paths": names}
    settings = {"compilerOptions": options, "files": ["paths.ts", "routes.d.ts", lookup]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings), "utf-8")

    assert {*expected.values()} == {*PATTERNS, ""}
    problems = await compile_types(tmp_path, await ensure_compiler(print))
    assert [(one.message, lines[one.line - 2]) for one in problems] == []
