"""The manifest: what `compile` writes into the build folder and `serve` reads.

It is the only thing the two share, so a built app starts without a bundler.
Paths of page files ("sources") are POSIX strings relative to the project
folder, for example ``pages/blog/[id].fxl``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from fxtrio.errors import PlacedError, display_path

VERSION = 2
"""2: the bundle for Node may be a script, which earlier releases cannot load."""

FILE_NAME = "manifest.json"

Mode = Literal["production", "development"]

FOLDERS: Mapping[Mode, Path] = {"production": Path(".fx/build"), "development": Path(".fx/dev")}
"""Build folders, relative to the project folder."""

MARKDOWN = "markdown"
"""Folder of a build with what agents get of pages in Markdown."""

MODULE_PREFIX = "fxpages_"
"""What the names begin with under which page files are imported; then hexadecimal digits."""

ViewKind = Literal["page", "error", "not-found"]
ScriptsMode = Literal["auto", "none", "always"]
HeadNode = list[Any]
"""``[tag, {attribute: value}, text]``; ``text`` is "" for void elements."""


class ManifestUnreadable(PlacedError):
    """The build folder holds no manifest that this version can read."""

    remedy = "Run 'fx build'"

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(display_path(path), cause)


class PageModule(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled page file: a page, layout, template, error, not-found or loading file."""

    source: str
    """The `.fxl` file, or the `.md` file of a page in Markdown."""

    code: str | None = None
    """The generated Python file, relative to the build folder; None without a server half."""

    inject: tuple[str, ...] = ()
    """Names of `fx.runtime` the module sees without an import."""

    loader: str | None = None
    """Name of the `@server` function."""

    actions: tuple[str, ...] = ()
    """Names of the `@action` functions, in file order."""

    streams: tuple[str, ...] = ()
    """Names of the `@stream` functions, in file order."""

    websocket: bool = False
    """Whether the file defines ``async def websocket(ws)``."""

    to_markdown: bool = False
    """Whether the file defines ``to_markdown(ctx)``."""

    paths: bool = False
    """Whether the file defines ``async def paths()``, whose URLs have parameters."""

    head: tuple[HeadNode, ...] = ()
    """The elements of a static ``HEAD``, checked."""

    head_function: bool = False
    """Whether ``HEAD`` is a function of the loader's value."""

    revalidate: float | None = None
    """``CACHE = {"revalidate": n}`` (seconds); None when responses are not cached."""

    memo: bool = True
    """False for ``MEMO = False``: the HTML is rendered again for every request."""

    scripts: ScriptsMode | None = None
    """``SCRIPTS``: whether its views load scripts; None when the file does not say."""

    static: bool = False
    """True for ``STATIC = True``: the build renders the page."""

    standalone: bool = False
    """True for ``STANDALONE = True`` in a layout or template: outer layouts do not wrap it."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be rendered: a page, error or not-found file inside its layouts."""

    id: int
    """Index in `Manifest.views`, and the page number in SSR frames."""

    kind: ViewKind

    module: str
    """Source of the innermost file."""

    layouts: tuple[str, ...] = ()
    """Sources of the layouts and templates around it, outermost first."""

    boundaries: tuple[int, ...] = ()
    """Error views that may stand in for this one, nearest first."""

    not_found: tuple[int, ...] = ()
    """Not-found views that may stand in for this one, nearest first."""

    streams: bool = False
    """Whether it must be rendered as a stream (Suspense, a loading file, deferred data)."""

    defers: bool = False
    """Whether a loading file stands in while the page's loader runs."""

    scripts: bool = True
    """Whether its documents load scripts; False where the build has proved that they need none.

    Those of its islands are loaded even so.
    """

    client: dict[str, Any] = msgspec.field(default_factory=dict)
    """The ``page`` object of the navigation payload: module, layouts, css, preload (URLs).

    ``islands`` has the URLs of their components, by key, where ``scripts`` is False. ``never`` is
    there if no render may bring scripts either (``SCRIPTS = "none"``).
    """


class PageRoute(msgspec.Struct, frozen=True, kw_only=True):
    """A URL pattern that a page answers."""

    pattern: str
    """For example ``/blog/[id]``; without the base URL."""

    view: int


class ApiRoute(msgspec.Struct, frozen=True, kw_only=True):
    """A URL pattern that a Python file of an `api` folder answers."""

    pattern: str
    source: str


class ActionModule(msgspec.Struct, frozen=True, kw_only=True):
    """A Python file of the project's `actions` folder that has actions."""

    source: str
    """For example ``actions/billing/invoices.py``."""

    name: str
    """What the names of its actions begin with: ``billing.invoices``."""

    actions: tuple[str, ...]
    """Names of the `@action` functions, in file order."""


class Assets(msgspec.Struct, frozen=True, kw_only=True):
    """The client bundle and the SSR bundle."""

    base: str = "/_fx/"
    """URL prefix of hashed files, base URL included."""

    entry: str = ""
    """URL of the client entry module."""

    preload: tuple[str, ...] = ()
    """URLs of the modules that the entry imports."""

    css: tuple[str, ...] = ()
    """URLs of the stylesheets of the entry."""

    islands: tuple[str, ...] = ()
    """URLs of what pages without scripts load for islands; none for an app without."""

    client: str = "client"
    """Folder of the hashed files, relative to the build folder."""

    server: str = "ssr/server.mjs"
    """The SSR bundle, relative to the build folder."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `serve` knows about a built app."""

    version: int = VERSION
    build_id: str
    """Changes with every build whose output differs."""

    mode: Literal["production", "development"]
    base_url: str = ""
    modules: dict[str, PageModule] = msgspec.field(default_factory=dict)
    views: tuple[View, ...] = ()
    routes: tuple[PageRoute, ...] = ()
    """In order of specificity: the first match answers."""

    api: tuple[ApiRoute, ...] = ()
    actions: tuple[ActionModule, ...] = ()
    """By source."""

    not_found: dict[str, int] = msgspec.field(default_factory=dict)
    """Folder pattern (``/`` or ``/blog``) to the not-found view for unmatched URLs below it."""

    llms: dict[str, str] = msgspec.field(default_factory=dict)
    """Source folder (``pages/blog``) to the `llms.py` file that stands in it."""

    markdown: dict[str, str] = msgspec.field(default_factory=dict)
    """Page source to the `.md` file beside it."""

    assets: Assets = msgspec.field(default_factory=Assets)

    @property
    def is_static(self) -> bool:
        """Whether the build has rendered all that its pages answer, so that none needs Node."""
        found = [self.modules[self.views[route.view].module] for route in self.routes]
        return bool(found) and all(one.static and not one.actions for one in found)


def manifest_below(manifest: Manifest, root: str, *, base_url: str) -> Manifest:
    """Return the manifest of an app that is mounted at ``root``, both URL-encoded.

    The URLs of files get the prefix; pages are told their whole ``base_url``, since what the
    build has told them is without it.
    """

    def moved(value: Any) -> Any:
        if isinstance(value, str):
            return root + value if value.startswith(base) else value
        if isinstance(value, Mapping):
            return {name: moved(one) for name, one in value.items()}
        return [moved(one) for one in value] if isinstance(value, list | tuple) else value

    base = manifest.assets.base
    assets = manifest.assets
    return replace(
        manifest,
        base_url=base_url,
        views=tuple(
            replace(view, client={**moved(view.client), "base": base_url})
            for view in manifest.views
        ),
        assets=replace(
            assets,
            base=root + base,
            entry=moved(assets.entry),
            preload=tuple(moved(assets.preload)),
            css=tuple(moved(assets.css)),
            islands=tuple(moved(assets.islands)),
        ),
    )


def dump_manifest(manifest: Manifest, *, compact: bool = False) -> bytes:
    """Return the manifest as UTF-8 JSON, keys sorted, so that equal builds have equal bytes.

    A ``compact`` one is not for people: without white space, and in half the time to read.
    """
    try:  # in a hundredth of the time that `json` takes
        text = msgspec.json.encode(manifest, order="sorted")
        if compact:
            return text
        text = msgspec.json.format(text, indent=1)
    except UnicodeEncodeError:  # of half of a surrogate pair
        text = json.dumps(msgspec.to_builtins(manifest), indent=1, sort_keys=True).encode()
    return text + b"\n"


def load_manifest(build: Path) -> Manifest:
    """Read the manifest of the build folder ``build``.

    Raises ManifestUnreadable when it is missing, broken or of another version.
    """
    return read_manifest(build / FILE_NAME, manifest_text(build))


def manifest_text(build: Path) -> bytes:
    """Return the text of the manifest of a build folder. Raises ManifestUnreadable."""
    path = build / FILE_NAME
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ManifestUnreadable(path, "there is no build") from None


def read_manifest(path: Path, text: bytes) -> Manifest:
    """Return the manifest that is the ``text`` of a file. Raises ManifestUnreadable."""
    try:
        if _VERSIONED.decode(text).version == VERSION:
            return _MANIFEST.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # which is explained below
    return _read_slowly(path, text)


class _Versioned(msgspec.Struct):
    version: int  # without a default


_VERSIONED = msgspec.json.Decoder(_Versioned)
_MANIFEST = msgspec.json.Decoder(Manifest)


def _read_slowly(path: Path, text: bytes) -> Manifest:
    """Read a manifest with half of a surrogate pair, or raise ManifestUnreadable."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise ManifestUnreadable(path, f"not JSON: {error}") from error
    if not isinstance(raw, dict) or raw.get("version") != VERSION:
        raise ManifestUnreadable(path, "it was written by another version of fxtrio")
    try:
        return msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        raise ManifestUnreadable(path, str(error)) from error
