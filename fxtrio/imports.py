"""Application code, imported: page modules, Python endpoints, `llms.py`, dotted names.

The only module that runs what a project contains. Python files are the modules
that an `import` gives. Page modules, which nothing can import, are compiled under the
name of their `.fxl` file, whose lines they keep, so tracebacks and debuggers show the page
itself.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from fxtrio import runtime
from fxtrio.config import Config
from fxtrio.errors import DottedNameUnknown
from fxtrio.import_path import put_on_path, remove_module
from fxtrio.manifest import MARKDOWN, MODULE_PREFIX, Manifest, PageModule
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX
from fxtrio.serve.pages.functions.server_functions import PageCode, page_code


class ImportedFiles(msgspec.Struct, frozen=True):
    """The names of all Python that a project has, each file by its source."""

    pages: Mapping[str, PageCode]
    endpoints: Mapping[str, Mapping[str, Any]]
    llms: Mapping[str, Mapping[str, Any]]
    actions: Mapping[str, Mapping[str, Any]]


class Imports:
    """Imports the files of one build. Several apps in one process keep apart."""

    def __init__(self, root: Path, build: Path) -> None:
        """``root`` is put on the import path, so pages can import the project's modules."""
        root = root.resolve()
        self._root = root
        self._build = build
        self._prefix = MODULE_PREFIX + hashlib.sha256(str(root).encode()).hexdigest()[:12]
        put_on_path(root)

    def all_files(self, manifest: Manifest, config: Config) -> ImportedFiles:
        """Import all files that ``manifest`` names. Raises what they raise."""
        pages = self.pages(manifest, config)
        endpoints = {route.source: self.file(route.source) for route in manifest.api}
        named = manifest.llms.values() if config.llms.enabled else ()
        llms = {source: self.file(source) for source in named}
        actions = {module.source: self.file(module.source) for module in manifest.actions}
        return ImportedFiles(pages, endpoints, llms, actions)

    def pages(self, manifest: Manifest, config: Config) -> dict[str, PageCode]:
        """Return the server half of every compiled file, by its source."""
        return {source: self.code(module, config) for source, module in manifest.modules.items()}

    def code(self, module: PageModule, config: Config) -> PageCode:
        """Return the server half of one compiled file."""
        code = page_code(
            module,
            self._page(module),
            loader_timeout=config.timeouts.loader,
            action_timeout=config.timeouts.action,
            largest_body=config.limits.all_bodies,
        )
        if not config.llms.enabled or not module.source.endswith(MARKDOWN_SUFFIX):
            return code
        text = (self._build / MARKDOWN / module.source).read_text("utf-8")
        return replace(code, markdown=text)

    def file(self, source: str) -> Mapping[str, Any]:
        """Return the names of a Python file of the project.

        It is the module that an `import` gives, so that what it holds is there once. Only a file
        that no such name leads to, as `sitemap.xml.py`, is a module of its own.
        """
        path = self._root / source
        name = _module_name(source)
        try:
            if _is_found(name, path):
                return import_module(name).__dict__
        except BaseException as error:
            error.add_note(f"fxtrio was importing {source}")
            raise
        return self._run(source, path.read_bytes(), path, {})

    def page(self, module: PageModule, text: bytes) -> Mapping[str, Any]:
        """Return the names of a page file, whose Python is ``text``."""
        injected = {name: getattr(runtime, name) for name in module.inject}
        return self._run(module.source, text, self._root / module.source, injected)

    def _page(self, module: PageModule) -> Mapping[str, Any] | None:
        if module.code is None:
            return None
        return self.page(module, self._read(module.code))

    def _read(self, code: str) -> bytes:
        """Return the Python of a page, by its path in the build."""
        return (self._build / code).read_bytes()

    def _run(
        self, source: str, text: bytes, path: Path, injected: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Run ``text`` as the module of ``source``; ``injected`` names are there before it."""
        module = ModuleType(f"{self._prefix}.{re.sub(r'[^A-Za-z0-9_]', '_', source)}")
        module.__file__ = str(path)
        module.__dict__.update(injected)
        before = sys.modules.get(module.__name__)
        sys.modules[module.__name__] = module  # where type hints and pickle look
        try:
            exec(self._compiled(text, path), module.__dict__)
        except BaseException as error:
            if before is None:
                remove_module(module.__name__)
            else:
                sys.modules[module.__name__] = before  # it stays in use
            error.add_note(f"fxtrio was importing {source}")
            raise
        return module.__dict__

    def _compiled(self, text: bytes, path: Path) -> CodeType:
        code: CodeType = compile(text, str(path), "exec", dont_inherit=True)
        return code


def _module_name(source: str) -> str:
    """Return the dotted name of a Python file; "" for one with a dot in its name or folders.

    Other signs are no matter: no statement can name `[id].py`, but its module has a package.
    """
    name = source.removesuffix(".py")
    return "" if "." in name else name.replace("/", ".")


def _is_found(name: str, path: Path) -> bool:
    """Whether the module ``name`` is that of ``path``, and not one of another place.

    Imports its packages, and raises what they raise.
    """
    if not name:
        return False
    if name in sys.modules:
        return _is_file(getattr(sys.modules[name], "__file__", None), path)
    if _is_file(_origin(name), path):
        return True
    invalidate_caches()  # the file may have been written a moment ago
    return _is_file(_origin(name), path)


def _origin(name: str) -> str | None:
    try:
        spec = find_spec(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            return None  # what is found under the name of one of its folders is no package
        raise
    return None if spec is None else spec.origin


def _is_file(file: str | None, path: Path) -> bool:
    return file is not None and (file == str(path) or Path(file).resolve() == path.resolve())


@contextmanager
def reimported(names: Sequence[str]) -> Iterator[None]:
    """Replace imported modules by new ones, in this order, or as they import each other.

    Those whose files were deleted are forgotten. Raises what a module raises. After an error,
    theirs or the block's, all modules are what they were before.
    """
    before = dict(sys.modules)
    places, stored = _places_in_packages(names), _modules_in_packages(names)
    invalidate_caches()  # of folders, in which there may be new files
    try:
        # All at once: a module may use another one of them since this change only.
        for name in sorted(names):  # packages first: what runs in an old one finds all in it
            _forget_bytecode(remove_module(name))
        for name in names:
            module = _import_if_there(name, Path(before[name].__file__ or ""))
            if module is not None:
                for last, known in stored.get(name, ()):
                    module.__dict__.setdefault(last, known)
        yield
    except BaseException:
        for name, module in before.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module
        for (package, last), value in places.items():
            package.__dict__[last] = value
        raise


def _import_if_there(name: str, file: Path) -> ModuleType | None:
    """Import a module; None if its file was deleted, which may happen at any moment."""
    if not file.exists():
        return None
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    # The file was deleted, or created when Python had just read its folder: by the folder's time,
    # whose steps are milliseconds, that is still as it was.
    invalidate_caches()
    return import_module(name) if file.exists() else None


def _places_in_packages(names: Sequence[str]) -> dict[tuple[ModuleType, str], object]:
    """Return what the packages of modules have in their places, if they are not run again.

    That is not always the module: `from .price import price` in a package covers it. Such a
    package uses the module, so that it is among ``names`` itself.
    """
    places: dict[tuple[ModuleType, str], object] = {}
    for name in names:
        package, _, last = name.rpartition(".")
        known = sys.modules.get(package)
        if package not in names and isinstance(known, ModuleType) and last in known.__dict__:
            places[known, last] = known.__dict__[last]
    return places


def _modules_in_packages(names: Sequence[str]) -> dict[str, list[tuple[str, ModuleType]]]:
    """Return the modules of packages that are run again, except those that run again themselves.

    The new package leads to them, too.
    """
    reloaded = set(names)
    stored: dict[str, list[tuple[str, ModuleType]]] = {}
    for name, module in list(sys.modules.items()) if reloaded else ():
        package, _, last = name.rpartition(".")
        if package in reloaded and name not in reloaded:
            stored.setdefault(package, []).append((last, module))
    return stored


def _forget_bytecode(module: ModuleType) -> None:
    """Remove what Python keeps of a module: it tells texts apart by second and size only."""
    cached = getattr(module, "__cached__", None)
    if cached is not None:
        Path(cached).unlink(missing_ok=True)


def resolve(name: str) -> Any:
    """Return what a dotted name of the config stands for: ``module:attribute``.

    ``module.attribute`` works too. Raises DottedNameUnknown when there is no such thing, and what
    the module raises.
    """
    module, attribute = split_name(name)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and one that it imports is not
        raise DottedNameUnknown(name, str(error)) from None
    except ValueError as error:
        if module:
            raise
        raise DottedNameUnknown(name, str(error)) from None
    try:
        for part in attribute.split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise DottedNameUnknown(name, str(error)) from None
    return found


def split_name(name: str) -> tuple[str, str]:
    """Return the module of a dotted name of the config, and what follows it."""
    module, separator, attribute = name.partition(":")
    if not separator:
        module, _, attribute = name.rpartition(".")
    return module, attribute
