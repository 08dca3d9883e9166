"""Builds the documentation site: `nox -s site`, or `python docs/site/build.py OUT --site URL`.

It copies this folder into a project, adds a page for each file of `docs/` and for each public
module, and exports it. Then Pagefind indexes the files. `fx dev` serves the same project: see
``--prepare``.

The newest version is at the root of the site, and others are in folders beside it
(`versions.py`). Examples that run somewhere are linked where ``--examples`` says where.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import normpath
from types import MappingProxyType

import attrs
from split import FENCE, Page, split
from versions import OWN, Version, listed, module_of, others_restored, written_list

SITE = Path(__file__).resolve().parent
DOCS = SITE.parent
ROOT = DOCS.parent
REPOSITORY = "https://github.com/fxtrio/fxtrio"
PROJECT = ROOT / ".nox" / "site-project"
EXPORTED = ROOT / ".nox" / "site-files"
"""Not `.nox/site`, which is the environment of the session `site`."""

_TEMPLATE = ("fx.config.json", "pages", "public", "styles")
_OPENING = re.compile(r"^```(\w+) ([\w./\[\]()@-]+)$", re.MULTILINE)
_TARGET = re.compile(r"(?<=\]\()([^)#\s]*)([^)\s]*)(?=\))")
_SOURCE = re.compile(r'(?<= src=")([^"]+)(?=")')
_DRAWING = re.compile(r"!\[([^\]]*)\]\([./]*pictures/([\w-]+\.svg)\)")
_VIEW = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
_EXAMPLE_ROW = re.compile(
    r'^\| \[(\w+)\]\(examples/\w+\) \| (.+?) \| <img [^>]*alt="([^"]+)"', re.MULTILINE
)
"""The name of an example, what it shows, and what is on its picture."""

_EXAMPLE = re.compile(r"^<!-- example: (\w+) -->$", re.MULTILINE)
_LISTED = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")
_PARTS = {
    "start": "Quick start",
    "features": "What you get",
    "performance": "Performance",
    "fit": "Is it for you?",
    "concurrency": "What structured concurrency gives",
}
"""Parts of the home page, and the sections of the README that they are."""

_DROPPED = {
    "concurrency": re.compile(
        r"^(?:\|.*\| *\||The ecosystem.*|\[What structured.*)\n", re.MULTILINE
    ),
    "performance": re.compile(r"^\| Navigation.*\n", re.MULTILINE),
}
"""Lines that the home page leaves to other pages: rows without a price, and some of the figures."""


def prepare(
    project: Path,
    *,
    versions: Sequence[Version] = (),
    examples: Mapping[str, str] = MappingProxyType({}),
    only: Collection[str] = (),
) -> None:
    """Write the project of the site into the folder `project`, which is replaced.

    ``versions`` are those that the site has, newest first; by default this one alone.
    ``examples`` has the URL of each example that runs, by the name of its folder.
    ``only`` names the files of `docs/` that become pages, where not all do: links to others lead
    to GitHub, and modules have no pages.
    """
    shutil.rmtree(project, ignore_errors=True)
    for name in _TEMPLATE:
        source = SITE / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        project.mkdir(parents=True, exist_ok=True)
        copy(source, project / name)
    _write(project / "versions.js", module_of(versions or [Version(OWN, "/")]))
    chosen = [DOCS / name for name in only] or documents()
    parts_of = {file: split(file.read_text("utf-8")) for file in chosen}
    for document, parts in parts_of.items():
        path = document.relative_to(ROOT).as_posix()
        linked = [attrs.evolve(part, text=_with_links(part, document, parts_of)) for part in parts]
        for file, text in _files(path.removesuffix(".md"), linked, path):
            _write(project / "pages" / file, _with_examples(text, examples))
    shutil.copytree(DOCS / "screenshots", project / "pages/docs/screenshots")
    for folder in ("pictures", "screenshots"):
        shutil.copytree(DOCS / folder, project / "public" / folder)
    _write(project / "navigation.js", navigation())
    _write(project / "examples.js", examples_module())
    for name, text in parts_of_home_page().items():
        _write(project / "parts" / f"{name}.md", text)
    if only:
        return
    from api import modules, overview  # griffe, which only this folder needs

    for module in modules(ROOT):
        name = f"docs/modules/{module.name.removeprefix('fx.')}"
        for file, text in _files(name, split(module.text), module.source):
            _write(project / "pages" / file, text)
    [(_, text)] = _files("docs/modules/index", split(overview(ROOT)), "fx/__init__.py")
    _write(project / "pages/docs/modules/index.md", text)


def documents() -> list[Path]:
    """Return the files of the documentation."""
    return sorted(file for file in DOCS.rglob("*.md") if SITE not in file.parents)


def _files(name: str, parts: Sequence[Page], source: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a document's parts, and their text with front matter.

    ``name`` is where the document is below the pages, ``source`` what readers may edit.
    """
    url = _url(name)
    listed = [{"title": part.label, "url": f"{url}/{part.slug}".rstrip("/")} for part in parts]
    for part in parts:
        title, description = _described(part.text, part.label)
        values = {
            "title": f"{part.label} · {title.partition(', ')[0]}" if part.slug else title,
            "description": description,
            "source": source,
            "parts": listed if len(parts) > 1 else [],
        }
        # JSON is YAML.
        lines = [f"{key}: {json.dumps(value)}" for key, value in values.items()]
        front_matter = "\n".join(["---", *lines, "---", "", ""])
        file = f"docs{url.removeprefix('/docs')}/{part.slug}" if part.slug else name
        yield f"{file}.md", front_matter + _named(part.text)


def _with_links(part: Page, document: Path, parts_of: Mapping[Path, Sequence[Page]]) -> str:
    """Return the text of a part whose links lead to pages of the site, or to GitHub."""
    folder = PurePosixPath(document.parent.relative_to(ROOT).as_posix())

    def place(path: str, anchor: str) -> str:
        if "://" in path or path.startswith("/"):
            return path + anchor
        target = normpath(folder / path) if path else document.relative_to(ROOT).as_posix()
        if target.endswith((".svg", ".png")):
            return f"../{path}" if part.slug else path
        if ROOT / target not in parts_of:
            return _on_github(target) + anchor
        slug = next((one.slug for one in parts_of[ROOT / target] if anchor[1:] in one.anchors), "")
        return f"{_url(target.removesuffix('.md'))}/{slug}".rstrip("/") + anchor

    return _DRAWING.sub(_drawing, _linked(part.text, place))


def _url_of(file: str, anchor: str, parts: Iterable[Page]) -> str:
    """Return the URL of a heading of a file of `docs/`."""
    slug = next((part.slug for part in parts if anchor[1:] in part.anchors), "")
    place = "" if anchor == f"#{slug}" else anchor  # a part begins with what names it
    return f"{_url(file.removesuffix('.md'))}/{slug}".rstrip("/") + place


def _url(name: str) -> str:
    """Return the URL of the page `docs/guides/data`, for instance."""
    return "/" + name.removesuffix("/index")


def _drawing(found: re.Match[str]) -> str:
    """Return the element of a drawing: a file of its own, whose size is known before it loads."""
    view = _VIEW.search((DOCS / "pictures" / found[2]).read_text("utf-8"))
    assert view is not None, found[2]
    return (
        f'<img src="/pictures/{found[2]}" alt="{escape(found[1])}" '
        f'width="{view[1]}" height="{view[2]}" loading="lazy">'
    )


def _with_examples(text: str, examples: Mapping[str, str]) -> str:
    """Return a page with links to the examples that run."""

    def link(found: re.Match[str]) -> str:
        url = examples.get(found[1])
        return f'<p class="live"><a href="{escape(url)}">Use it live</a></p>\n' if url else ""

    return _EXAMPLE.sub(link, text)


def navigation() -> str:
    """Return a module with the groups of pages that `docs/index.md` lists."""
    text = (DOCS / "index.md").read_text("utf-8").partition("## Guides")[2]
    guides, *others = text.split("\n## ")
    groups = [
        _group("Start", "[Overview](index.md) [Tutorial](tutorial.md) [Examples](examples.md)")
    ]
    for line in guides.splitlines():
        if found := re.match(r"- \*\*(.+?):\*\* (.*)", line):
            groups.append(_group(found[1], found[2]))
    for other in others:
        title, _, rest = other.partition("\n")
        groups.append(_group(title, rest))
    api = {"title": "API of the Python modules", "url": "/docs/modules"}
    next(one for one in groups if one["title"] == "Reference")["pages"].insert(0, api)
    return f"export const groups = {json.dumps(groups, indent=1, ensure_ascii=False)};\n"


def parts_of_home_page() -> dict[str, str]:
    """Return the Markdown of the parts of the home page, which are in the README."""
    text = (ROOT / "README.md").read_text("utf-8")
    code = FENCE.search(text)
    assert code is not None
    found = {"code": code[0]}
    for name, title in _PARTS.items():
        section = re.search(
            rf"^## {re.escape(title)}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL
        )
        assert section is not None, title
        found[name] = f"## {title}\n{section[1]}"
    for name in ("start", "performance"):
        commands = FENCE.search(found[name])
        assert commands is not None
        found[name] = found[name][: commands.end()]
    for name, dropped in _DROPPED.items():
        found[name] = dropped.sub("", found[name])
    linked = {name: _linked(part, _of_readme) for name, part in found.items()}
    return {name: _named(_DRAWING.sub(_drawing, part)) for name, part in linked.items()}


def examples_module() -> str:
    """Return a module with the examples that the README lists."""
    found = _EXAMPLE_ROW.findall((ROOT / "README.md").read_text("utf-8"))
    assert found
    examples = [dict(zip(("name", "shows", "alt"), row, strict=True)) for row in found]
    return f"export const examples = {json.dumps(examples, indent=1, ensure_ascii=False)};\n"


def _described(text: str, otherwise: str) -> tuple[str, str]:
    """Return the title of a page, and its first sentence, or `otherwise` where it has none."""
    title = text.partition("\n")[0].removeprefix("# ").replace("`", "")
    prose = (line for line in FENCE.sub("", text).splitlines()[1:] if line.strip())
    first = next((line for line in prose if re.match(r"[A-Z`*\[]", line)), otherwise)
    return title, re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", first)


def _linked(text: str, place: Callable[[str, str], str]) -> str:
    """Return Markdown whose relative links lead to where `place` says; not those in code."""
    done, at = [], 0
    for code in [*FENCE.finditer(text), None]:
        prose = text[at : code.start() if code else len(text)]
        prose = _TARGET.sub(lambda found: place(found[1], found[2]), prose)
        done.append(_SOURCE.sub(lambda found: place(found[1], ""), prose))
        if code:
            done.append(code[0])
            at = code.end()
    return "".join(done)


def _of_readme(path: str, anchor: str) -> str:
    if "://" in path or not path:
        return path + anchor
    if path.startswith("docs/") and path.endswith(".md"):
        return _url_of(path, anchor, split((ROOT / path).read_text("utf-8")))
    if path.startswith(("docs/pictures/", "docs/screenshots/")):
        return "/" + path.removeprefix("docs/")
    return _on_github(path) + anchor


def _on_github(path: str) -> str:
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{path}"


def _named(text: str) -> str:
    """Return Markdown with the name of a file above its code."""
    return _OPENING.sub(lambda found: f'<p class="file">{found[2]}</p>\n\n{found[0]}', text)


def _group(title: str, text: str) -> dict[str, object]:
    pages = [
        {"title": name.replace("`", ""), "url": "/docs/" + path.removesuffix(".md")}
        for name, path in _LISTED.findall(text)
        if not path.startswith("../")
    ]
    for page in pages:
        page["url"] = page["url"].removesuffix("/index")
    return {"title": title, "pages": pages}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> None:
    """Read the command line, and build."""
    options = _parser().parse_args()
    versions = listed(options.versions or [OWN], options.site + options.base)
    is_newest = versions[0].name == OWN
    base = options.base if is_newest else f"{options.base}/{OWN}"
    out = options.out if is_newest else options.out / OWN
    examples = dict(one.split("=", 1) for one in options.examples)
    prepare(PROJECT, versions=versions, examples=examples)
    if is_newest:
        _write(PROJECT / "public" / "versions.json", written_list(versions))
    if options.prepare:
        print(f"Serve it with: fx dev --root {PROJECT}")
        return
    fx = [sys.executable, "-m", "fxtrio", "export", str(out), "--root", str(PROJECT)]
    below = ["--base", base] if base else []
    pagefind = [sys.executable, "-m", "pagefind", "--site", str(out)]
    with others_restored(out, [version.name for version in versions]):
        for command in ([*fx, "--site", options.site, *below], pagefind):
            status = subprocess.run(command, check=False).returncode
            if status:
                sys.exit(status)  # the command has said why


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=EXPORTED)
    parser.add_argument("--export", action="store_true", help="only write files; the default here")
    parser.add_argument("--site", default="http://127.0.0.1:8000", help="scheme and host")
    parser.add_argument("--base", default="", help="the path of the home page on that host")
    parser.add_argument("--prepare", action="store_true", help="only write the project")
    parser.add_argument(
        "--versions",
        type=lambda text: text.split(","),
        metavar="NEWEST,…,OLDEST",
        help=f"all versions of the site, as 0.2,0.1; this one is {OWN}",
    )
    parser.add_argument(
        "--examples",
        nargs="+",
        default=[],
        metavar="NAME=URL",
        help="where examples run, as guestbook=https://guestbook.example.com",
    )
    return parser


if __name__ == "__main__":
    main()
