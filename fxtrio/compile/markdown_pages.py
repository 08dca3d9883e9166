"""A Markdown file of the pages folder as a page file: its client half, and what `content.py` says.

What is in the file is done by `fxtrio.content`, which needs the extra `content`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from posixpath import dirname, relpath
from typing import TYPE_CHECKING

import attrs
from msgspec.structs import replace

from fxtrio.compile.check.constants import says_static
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.manifest import HeadNode, PageModule
from fxtrio.routes.scan import MODEL_FILE, url_of

if TYPE_CHECKING:
    from fxtrio.content.front_matter import FrontMatter

_NEEDED = ("markdown_it", "mdit_py_plugins", "pygments", "yaml", "PIL")
FRONT_MATTER = "FRONT_MATTER"
"""What the server half of a page in Markdown calls its front matter, an instance of its class."""

_INSTALL = "Run \"pip install 'fxtrio[content]'\""


@attrs.frozen
class MarkdownPage:
    """What a Markdown file has come to as a page."""

    module: PageModule
    python: str = ""
    ui: str = ""
    markdown: str = ""
    """What agents get: without front matter, with the code that it includes."""

    included: tuple[str, ...] = ()
    """Other files that it is made of, relative to the project folder."""

    problems: tuple[Problem, ...] = ()


def markdown_page(source: SourceText, root: Path | None, pages_dir: str) -> MarkdownPage:
    """Return the page of a Markdown file of the project in ``root``."""
    module = PageModule(source=source.path)
    if not all(map(find_spec, _NEEDED)):
        problem = source.problem(0, "pages in Markdown need the extra 'content'", _INSTALL)
        return MarkdownPage(module, problems=(problem,))
    # An extra: nothing else needs these packages.
    from fxtrio.content.article import read_article
    from fxtrio.content.client_half import client_half

    folder = Path() if root is None else root
    named: set[str] = set()
    article = read_article(
        source.text,
        source.path,
        read=partial(_read, folder),
        locate=partial(_locate, folder, source.path, pages_dir, named),
    )
    model = model_of(folder, source.path, pages_dir)
    problems = [
        source.problem(source.line_starts[min(one.line, len(source.line_starts)) - 1], *said)
        for one in article.mistakes
        for said in [(one.message, one.remedy)]
    ]
    python = "" if model is None else _python(model, article.front_matter)
    is_static = model is not None and says_static(_read(folder, model))
    head = _head(article.title, article.front_matter.values.get("description"))
    return MarkdownPage(
        replace(
            module,
            head=head,
            code=f"server/{source.path}.py" if python else None,
            static=is_static,
        ),
        python,
        client_half(article),
        article.markdown,
        tuple(sorted({*article.included, *named, *_model_files(source.path, pages_dir)})),
        tuple(problems),
    )


def _read(root: Path, file: str) -> str:
    return (root / file).read_text("utf-8")


def _locate(
    root: Path, page: str, pages_dir: str, found: set[str], named: str, is_image: bool
) -> str:
    """Return what stands for a file that a page names by a relative path (`Locate`).

    ``found`` gets the file.
    """
    from fxtrio.content.client_half import ASSET, PICTURES
    from fxtrio.content.included import NotIncluded, no_file

    found.add(named)
    if named.startswith("../"):
        raise NotIncluded("is outside of the project", "Move the file into it")
    if not (root / named).is_file():
        raise no_file(named)
    if is_image:
        if PurePosixPath(named).suffix.lower() in PICTURES:
            _require_picture(root, root / named)
        path = relpath(named, dirname(page))
        return ASSET + (path if path.startswith(".") else f"./{path}")
    url = url_of(named, pages_dir)
    if url is None:
        remedy = "Put it into the public folder, or write the URL of a page"
        raise NotIncluded("leads to a file that is not a page", remedy)
    return url


def _require_picture(root: Path, file: Path) -> None:
    from fxtrio.content.included import NotIncluded
    from fxtrio.pictures.pixels import PictureInvalid
    from fxtrio.pictures.store import PictureStore

    try:
        PictureStore(root.resolve()).find(file, None)
    except PictureInvalid as error:
        raise NotIncluded(f"cannot be shown: {error.cause}", error.remedy) from None


def _head(title: str, description: object) -> tuple[HeadNode, ...]:
    """Return the head elements that the front matter stands for."""
    nodes: list[HeadNode] = [["title", {}, title]] if title else []
    if isinstance(description, str) and description.strip():
        nodes.append(["meta", {"name": "description", "content": description.strip()}, ""])
    return tuple(nodes)


def model_of(root: Path, page: str, pages_dir: str) -> str | None:
    """Return the `content.py` of a page in Markdown: the nearest one, relative to ``root``."""
    return next((one for one in _model_files(page, pages_dir) if (root / one).is_file()), None)


def _model_files(page: str, pages_dir: str) -> Iterator[str]:
    """Yield where the model of a page's front matter may be, nearest first."""
    folder = page
    while folder != pages_dir and "/" in folder:
        folder = folder.rpartition("/")[0]
        yield f"{folder}/{MODEL_FILE}"


def _python(model: str, front_matter: FrontMatter) -> str:
    """Return the server half of a page, which checks its front matter when it is imported."""
    module = model.removesuffix(".py").replace("/", ".")
    written = json.dumps({"values": front_matter.values, "lines": front_matter.lines})
    return (
        "from importlib import import_module; from fxtrio.collections import page_front_matter; "
        f"{FRONT_MATTER} = page_front_matter(import_module({module!r}), __file__, {written!r})\n"
    )
