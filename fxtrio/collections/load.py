"""`load`: a folder of Markdown files in, its entries out, checked by a model.

Files are read in a thread and converted once: an entry stays in memory until its file, or one
that it includes, is another one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from posixpath import normpath
from threading import Lock
from typing import Any, Generic, TypeVar, overload
from urllib.parse import quote

import attrs
import trio

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.collections.models import ContentInvalid, Fault, build_model, faults_of
from fxtrio.content.article import Article, Heading, read_article
from fxtrio.content.elements import Element
from fxtrio.content.included import NotIncluded, no_file
from fxtrio.context import current
from fxtrio.limiters import limiter_of

Model = TypeVar("Model")
State = tuple[int, int, int] | None

_MOST = 32
"""Forms of one file that are remembered: the URL of a mount may have parameters (count)."""

_BESIDE = "fx-beside:"
"""The ``src`` of an image beside a page in Markdown, until its alternative text stands for it."""

_SUFFIX = ".md"
_INDEX = "index"


@attrs.frozen
class Entry(Generic[Model]):
    """One Markdown file of a folder."""

    slug: str
    """Its path in the folder without the ending: ``2024/hello``; ``2024`` for `2024/index.md`, and
    ``index`` for `index.md`."""

    meta: Model
    """The front matter."""

    title: str
    """``title`` of the front matter, or else the first heading."""

    html: str
    """Of a file in the pages folder: with the alternative text of each image beside the file, which
    only its page can show."""

    headings: tuple[Heading, ...]
    markdown: str
    """The Markdown without front matter, with the code that it includes."""

    url: str
    """The path of its page, without the base URL; "" if `load` was called without ``url``."""


@attrs.frozen
class _Known:
    """A file as it was read last."""

    state: tuple[tuple[str, State], ...]
    """Of the file, and of those that it includes or links to."""

    article: Article


@attrs.frozen(eq=False)
class _Memory:
    """What was read, by root and file, and for each by what its links depend on."""

    _known: dict[tuple[Path, str], dict[tuple[str, str, bool], _Known]] = attrs.field(factory=dict)
    _lock: Lock = attrs.field(factory=Lock)

    def find(self, root: Path, file: str, folder: str, url: str, is_page: bool) -> Article:
        """Return the article of a file. Raises OSError and UnicodeDecodeError."""
        key, where = (root, file), (folder, url, is_page)
        with self._lock:
            known = self._known.get(key, {}).get(where)
        if known is not None and all(_state(root, name) == one for name, one in known.state):
            return known.article
        names = {file}
        locate = partial(_locate, root, folder, url, names, is_page)
        before = _state(root, file)
        text = (root / file).read_text("utf-8").removeprefix("\ufeff")
        article = read_article(text, file, read=partial(_read, root), locate=locate)
        _replace_images(article.tree)
        names |= set(article.included)
        states = {name: _state(root, name) for name in names} | {file: before}
        with self._lock:
            of_file = self._known.setdefault(key, {})
            if where not in of_file and len(of_file) >= _MOST:
                del of_file[next(iter(of_file))]
            of_file[where] = _Known(tuple(sorted(states.items())), article)
        return article

    def forget_others(self, root: Path, folder: str, files: set[str]) -> None:
        """Evict entries whose files were removed."""
        with self._lock:
            for key in [*self._known]:
                if key[0] == root and key[1].startswith(f"{folder}/") and key[1] not in files:
                    del self._known[key]


_MEMORY = _Memory()


@overload
async def load(
    folder: str, *, url: str = "", root: Path | None = None
) -> dict[str, Entry[dict[str, Any]]]: ...
@overload
async def load(
    folder: str, model: type[Model], *, url: str = "", root: Path | None = None
) -> dict[str, Entry[Model]]: ...
async def load(
    folder: str, model: Any = None, *, url: str = "", root: Path | None = None
) -> dict[str, Entry[Any]]:
    """Return the entries of a folder by slug, in the order of their paths.

    ``folder`` is relative to the project folder; files and folders whose names begin with ``_``
    or ``.`` are left out. ``model`` is the class of ``entry.meta``: an attrs class, a data class
    or a pydantic model; a dict without one. ``url`` is the path of an entry's page, such as
    ``"/posts/{slug}"``: links between files lead there, and ``entry.url`` has it. ``root`` is the
    project folder, for code outside of the app.

    Raises ContentInvalid with every mistake of every file, and FileNotFoundError.
    """
    context = current.get()
    base = "" if context is None else _base_url(context.scope, context.app)
    root = root or (None if context is None else context.app.root) or Path.cwd()
    pages = "pages" if context is None else context.app.config.pages_dir
    read = partial(_load, root, normpath(folder), model, url, base, pages)
    return await trio.to_thread.run_sync(read, limiter=limiter_of("files"))


def _base_url(scope: Any, app: Any) -> str:
    """Return the path that the app is mounted at, with the setting."""
    mounted_at = "" if scope is None else str(scope.get("root_path", ""))
    setting: str = app.config.base_url
    return mounted_at + setting


def _load(
    root: Path, folder: str, model: Any, url: str, base: str, pages: str
) -> dict[str, Entry[Any]]:
    start = root / folder
    if not start.is_dir():
        raise FileNotFoundError(2, "There is no such folder", str(start))
    files = sorted(
        path.relative_to(root).as_posix()
        for path in start.rglob(f"*{_SUFFIX}")
        if path.is_file() and not _is_hidden(path.relative_to(start))
    )
    entries: dict[str, Entry[Any]] = {}
    faults: list[Fault] = []
    for file in files:
        article = _MEMORY.find(root, file, folder, url and base + url, file.startswith(f"{pages}/"))
        slug = _slug(file, folder)
        faults += [Fault(file, one.line, one.message, one.remedy) for one in article.mistakes]
        meta: Any = article.front_matter.values
        if model is not None and (meta or not article.mistakes):
            meta = build_model(model, meta)
            if isinstance(meta, list):
                faults += faults_of(file, meta, article.front_matter.lines)
        entries[slug] = Entry(
            slug,
            meta,
            article.title,
            article.html,
            article.headings,
            article.markdown,
            page_url(url, slug),
        )
    _MEMORY.forget_others(root, folder, set(files))
    if faults:
        raise ContentInvalid(sorted(faults))
    return entries


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _slug(file: str, folder: str) -> str:
    slug = file.removesuffix(_SUFFIX).removeprefix(f"{folder}/")
    return slug.removesuffix(f"/{_INDEX}")


def page_url(form: str, slug: str) -> str:
    """Return the URL of an entry; that of `index.md` is the one of the folder."""
    if slug == _INDEX:
        return form.replace("/{slug}", "") or (form and "/")
    return form.replace("{slug}", quote(slug, safe=SAFE_IN_PATHS))


def _read(root: Path, file: str) -> str:
    return (root / file).read_text("utf-8")


def _state(root: Path, file: str) -> State:
    try:
        stat = (root / file).stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _replace_images(tree: Element) -> None:
    """Put the alternative text where an image has no URL, since the bundler names its files."""
    for one in (tree, *tree.walk()):
        for index, child in enumerate(one.children):
            if not isinstance(child, Element):
                continue
            if (child.attributes.get("src") or "").startswith(_BESIDE):
                one.children[index] = child.attributes.get("alt") or ""


def _locate(
    root: Path,
    folder: str,
    url: str,
    names: set[str],
    is_page: bool,
    named: str,
    is_image: bool,
) -> str:
    """Return the URL of another entry (`fxtrio.content.article.Locate`)."""
    if is_image and is_page:
        return _BESIDE
    if is_image:
        remedy = "Put it into the public folder, and begin with a slash"
        raise NotIncluded("is relative to the file, which browsers do not know", remedy)
    names.add(named)
    if not named.startswith(f"{folder}/") or not named.endswith(_SUFFIX):
        raise NotIncluded(f"is outside of {folder}", "Write a URL that begins with a slash")
    if not (root / named).is_file():
        raise no_file(named)
    if not url:
        remedy = 'Name the pages: load(…, url="/posts/{slug}")'
        raise NotIncluded("leads to an entry without a page", remedy)
    return page_url(url, _slug(named, folder))
