"""Builds the documentation site: `nox -s site`, or `python docs/site/build.py OUT --site URL`.

It copies this folder into a project, adds a page for each file of `docs/` and for each public
module, and exports it. Then Pagefind indexes the files. `fx dev` serves the same project: see
``--prepare``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import normpath

SITE = Path(__file__).resolve().parent
DOCS = SITE.parent
ROOT = DOCS.parent
REPOSITORY = "https://github.com/fxtrio/fxtrio"
PROJECT = ROOT / ".nox" / "site-project"
EXPORTED = ROOT / ".nox" / "site-files"
"""Not `.nox/site`, which is the environment of the session `site`."""

_TEMPLATE = ("fx.config.json", "pages", "public", "styles")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)$\n?", re.MULTILINE | re.DOTALL)
_OPENING = re.compile(r"^```(\w+) ([\w./\[\]()@-]+)$", re.MULTILINE)
_TARGET = re.compile(r"(?<=\]\()([^)#\s]+)([^)\s]*)(?=\))")
_SOURCE = re.compile(r'(?<= src=")([^"]+)(?=")')
_LISTED = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")
_PUBLIC = re.compile(r'(?<==")/(?=favicon\.svg|site\.js)')
"""The slash in front of a public file, to which nothing else adds the base."""

_PARTS = {
    "start": "Quick start",
    "features": "What you get",
    "performance": "Performance",
    "fit": "Is it for you?",
    "concurrency": "What structured concurrency gives",
}
"""Parts of the home page, and the sections of the README that they are."""


def prepare(project: Path, *, base: str = "") -> None:
    """Write the project of the site into the folder `project`, which is replaced."""
    shutil.rmtree(project, ignore_errors=True)
    for name in _TEMPLATE:
        source = SITE / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        project.mkdir(parents=True, exist_ok=True)
        copy(source, project / name)
    layout = project / "pages" / "layout.fxl"
    _write(layout, _PUBLIC.sub(f"{base}/", layout.read_text("utf-8")))
    pages = project / "pages" / "docs"
    for document in documents():
        target = pages / document.relative_to(DOCS)
        _write(target, page_of(document))
    for folder in ("pictures", "screenshots"):
        shutil.copytree(DOCS / folder, pages / folder)
        shutil.copytree(DOCS / folder, project / "public" / folder)
    _write(project / "navigation.js", navigation())
    for name, text in parts(base).items():
        _write(project / "parts" / f"{name}.md", text)
    from api import modules, overview  # griffe, which only this folder needs

    for module in modules(ROOT):
        _write(pages / "modules" / f"{module.name.removeprefix('fx.')}.md", module.page)
    _write(pages / "modules" / "index.md", overview(ROOT))


def documents() -> list[Path]:
    """Return the files of the documentation."""
    return sorted(file for file in DOCS.rglob("*.md") if SITE not in file.parents)


def page_of(document: Path) -> str:
    """Return the page of a file: with front matter, names above code, and links of the site."""
    text = document.read_text("utf-8")
    source = document.relative_to(ROOT)
    title, description = _described(text)
    folder = PurePosixPath(source.parent.as_posix())
    outside = _linked(text, lambda path: _outside(folder, path))
    return front_matter(title, description, source.as_posix()) + _named(outside)


def front_matter(title: str, description: str, source: str) -> str:
    """Return the front matter of a page. JSON is YAML."""
    values = {"title": title, "description": description, "source": source}
    lines = [f"{name}: {json.dumps(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def navigation() -> str:
    """Return a module with the groups of pages that `docs/index.md` lists."""
    text = (DOCS / "index.md").read_text("utf-8").partition("## Guides")[2]
    guides, *others = text.split("\n## ")
    groups = [_group("Start", "[Overview](index.md) [Tutorial](tutorial.md)")]
    for line in guides.splitlines():
        if found := re.match(r"- \*\*(.+?):\*\* (.*)", line):
            groups.append(_group(found[1], found[2]))
    for other in others:
        title, _, rest = other.partition("\n")
        groups.append(_group(title, rest))
    api = {"title": "API of the Python modules", "url": "/docs/modules"}
    next(one for one in groups if one["title"] == "Reference")["pages"].insert(0, api)
    return f"export const groups = {json.dumps(groups, indent=1, ensure_ascii=False)};\n"


def parts(base: str) -> dict[str, str]:
    """Return the Markdown of the parts of the home page, which are in the README."""
    text = (ROOT / "README.md").read_text("utf-8")
    code = _FENCE.search(text)
    assert code is not None
    found = {"code": code[0]}
    for name, title in _PARTS.items():
        section = re.search(
            rf"^## {re.escape(title)}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL
        )
        assert section is not None, title
        found[name] = f"## {title}\n{section[1]}"
    examples = re.search(r"^\| \[\w+\]\(examples/.*?(?=^\n)", text, re.MULTILINE | re.DOTALL)
    assert examples is not None
    heads = "| Example | Shows | Picture |\n|---|---|---|\n"
    found["examples"] = f"## Examples\n\n{heads}{examples[0]}"
    found["start"] = re.sub(r"^!\[.*\n", "", found["start"], flags=re.MULTILINE)
    place = partial(_of_readme, base=base)
    return {name: _named(_linked(part, place)) for name, part in found.items()}


def _described(text: str) -> tuple[str, str]:
    """Return the title of a page, and its first sentence."""
    title = text.partition("\n")[0].removeprefix("# ").replace("`", "")
    prose = (line for line in _FENCE.sub("", text).splitlines()[1:] if line.strip())
    first = next((line for line in prose if re.match(r"[A-Z`*\[]", line)), title)
    return title, re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", first)


def _linked(text: str, place: Callable[[str], str]) -> str:
    """Return Markdown whose relative links lead to where `place` says; not those in code."""
    done, at = [], 0
    for code in [*_FENCE.finditer(text), None]:
        prose = text[at : code.start() if code else len(text)]
        prose = _TARGET.sub(lambda found: place(found[1]) + found[2], prose)
        done.append(_SOURCE.sub(lambda found: place(found[1]), prose))
        if code:
            done.append(code[0])
            at = code.end()
    return "".join(done)


def _outside(folder: PurePosixPath, path: str) -> str:
    """Return the link of a page of `docs/`: files of the repository are on GitHub."""
    if "://" in path or path.startswith("/"):
        return path
    target = normpath(folder / path)
    if target.startswith("docs/") and (ROOT / target).is_file():
        return path if target.endswith((".md", ".svg", ".png")) else _on_github(target)
    return _on_github(target)


def _of_readme(path: str, *, base: str) -> str:
    if "://" in path:
        return path
    if path.startswith("docs/") and path.endswith(".md"):
        name = path.removesuffix(".md").removesuffix("/index")
        return f"{base}/{name}"
    if path.startswith(("docs/pictures/", "docs/screenshots/")):
        return f"{base}/{path.removeprefix('docs/')}"
    return _on_github(path)


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=EXPORTED)
    parser.add_argument("--site", default="http://127.0.0.1:8000", help="scheme and host")
    parser.add_argument("--base", default="", help="the path of the home page on that host")
    parser.add_argument("--prepare", action="store_true", help="only write the project")
    options = parser.parse_args()
    prepare(PROJECT, base=options.base)
    if options.prepare:
        print(f"Serve it with: fx dev --root {PROJECT}")
        return
    fx = [sys.executable, "-m", "fxtrio", "export", str(options.out), "--root", str(PROJECT)]
    base = ["--base", options.base] if options.base else []
    pagefind = [sys.executable, "-m", "pagefind", "--site", str(options.out)]
    for command in ([*fx, "--site", options.site, *base], pagefind):
        status = subprocess.run(command, check=False).returncode
        if status:
            sys.exit(status)  # the command has said why


if __name__ == "__main__":
    main()
