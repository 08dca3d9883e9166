"""New code for an app that runs: modules are imported again, and the site is rebuilt.

Runs in the child. Requests that have begun end with the code they have begun with.
"""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import attrs
from msgspec.structs import replace

from fxtrio.app import put_into, put_together
from fxtrio.application import Application
from fxtrio.config import Config
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.import_graph import Importers, file_of
from fxtrio.develop.reload.restart_reasons import find_new_job, find_reason
from fxtrio.develop.report.inside import Inside
from fxtrio.develop.report.request_logs import Records
from fxtrio.imports import ImportedFiles, Imports, reimported, resolve, split_name
from fxtrio.manifest import FILE_NAME, MODULE_PREFIX, Manifest, manifest_text, read_manifest
from fxtrio.plugins.load import load_plugins
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX, PAGE_SUFFIX
from fxtrio.secret_key import project_key
from fxtrio.serve.pages.functions.server_functions import PageCode
from fxtrio.serve.pages.resources import Renderer
from fxtrio.ssr.pool import open_attached_pool
from fxtrio.tracebacks import trimmed

_LONGEST_RENDER = 30.0  # seconds; the first one has to compile what it needs


@attrs.define(eq=False)
class Swapper:
    """Makes the app of a project (`fxtrio.app.Development`), and replaces its code."""

    root: Path
    open_renderer: Callable[[Config], AbstractAsyncContextManager[Renderer]]
    """Opens what renders pages, with the settings of the project."""

    importers: Importers
    records: Records
    """What browsers learn of the log."""

    inside: Inside = attrs.field(factory=Inside)
    """What developers see of the running app."""

    app_module: str = ""
    """The module that the app comes from; "" when fxtrio makes it."""

    _app: Application | None = None
    _code: ImportedFiles | None = None
    _config: Config | None = None
    _build: Path = Path()
    _manifest: tuple[bytes, Manifest] | None = None
    """The text that was read last, with what it says."""

    def make_app(self, root: Path, config: Config, build: Path, manifest: Manifest) -> Application:
        """Return the app of a development build. Raises what the project's modules raise."""
        config = replace(
            config,
            secret_keys=config.secret_keys or (project_key(root),),
            # The HTML of a state is another one after each change of its page.
            ssr=replace(config.ssr, memo=False),
        )
        code = Imports(root, build).all_files(manifest, config)
        plugins = load_plugins(config, root=root, resolve=resolve)
        site = put_together(root, config, manifest, code, plugins)
        app = Application(
            site,
            root=root,
            build=build,
            plugins=plugins,
            open_renderer=partial(self.open_renderer, config),
        )
        app.spans.add(self.inside.timings)
        if root == self.root:
            self._app, self._code, self._config, self._build = app, code, config, build
            self.inside.application = app
        return app

    def swap(self, order: Swap) -> Swapped:
        """Replace the code that has changed, and all that uses it; or say why not."""
        app, code, config = self._app, self._code, self._config
        if app is None or code is None or config is None:
            return Swapped(restart="the app was not created by fxtrio")
        pages = {str(self.root / source) for source in order.sources}
        files = self.importers.dependents({*order.files, *pages})
        names = _names_of(files)
        sources = [Path(file).relative_to(self.root).as_posix() for file in files]
        linecache.checkcache()
        reason = find_reason(app, self.app_module, files, self.root)
        if reason:
            broken = _syntax_error(order.files)
            if broken is None:
                return _restart(reason, code, sources)
            return _failed(broken, code, sources)  # a new process could not start
        manifest = self._read_manifest(app.site.manifest)
        imports = Imports(self.root, self._build)
        try:
            with self.importers.noted_again(files), reimported(names):
                new = _renewed(code, imports, config, manifest, sources)
                if app.site.manifest is manifest:
                    site = put_into(app.site, self.root, new)
                else:
                    site = put_together(self.root, config, manifest, new, app.plugins, app.site)
        except (Exception, SystemExit) as error:  # application code
            return _failed(error, code, sources)
        reason = find_new_job(app, self.root)  # the modules that have run may declare one
        if reason:
            return _restart(reason, code, sources)
        self._code = new
        affected = [one for one in sources if _has(new, one)]
        sockets = _sources_with_other_sockets(code, new)
        app.replace_site(site, sockets, _sources_with_other_streams(code, new))
        modules = len(names) + len(affected)
        if _modules_of_hooks(config) & set(names):
            affected = list(new.pages)  # any of them may be rendered in another way, or to nobody
        return Swapped(sources=tuple(affected), modules=modules)

    def _read_manifest(self, known: Manifest) -> Manifest:
        """Return the manifest: ``known`` itself, when it says the same."""
        text = manifest_text(self._build)
        if self._manifest is None or self._manifest[0] != text:
            manifest = read_manifest(self._build / FILE_NAME, text)
            self._manifest = text, known if known == manifest else manifest
        return self._manifest[1]


def open_vite_renderer(sockets: Path, config: Config) -> AbstractAsyncContextManager[Renderer]:
    """Render with the Node process that listens in the folder ``sockets``."""
    return open_attached_pool(
        sockets / "ssr",
        timeout=max(config.timeouts.render, _LONGEST_RENDER),
        max_pending=config.ssr.max_pending,
    )


def _failed(error: BaseException, code: ImportedFiles, sources: Iterable[str]) -> Swapped:
    text = "".join(traceback.format_exception(trimmed(error)))
    message = f"{type(error).__name__}: {error}"
    return Swapped(failed=text, error=message, sources=_affected(code, sources))


def _restart(reason: str, code: ImportedFiles, sources: Iterable[str]) -> Swapped:
    return Swapped(restart=reason, sources=_affected(code, sources))


def _affected(code: ImportedFiles, sources: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in sources if _has(code, one))


def _syntax_error(files: Iterable[str]) -> Exception | None:
    """Return why one of the modules ``files`` cannot be compiled; None when all can."""
    for file in files:
        if file.endswith(".py") and Path(file).is_file():
            try:
                compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:  # ValueError: a NUL
                return error
    return None


def _has(code: ImportedFiles, source: str) -> bool:
    return source in code.pages or source in code.endpoints or source in code.actions


def _modules_of_hooks(config: Config) -> set[str]:
    """Return the modules in which the route hooks are."""
    hooks = config.route_middleware.lists().values()
    return {split_name(name)[0] for names in hooks for name in names}


def _sources_with_other_sockets(old: ImportedFiles, new: ImportedFiles) -> list[str]:
    """Return the files whose WebSockets are handled in another way now, or by nothing."""
    before, now = _socket_handlers(old), _socket_handlers(new)
    return [source for source, handler in before.items() if not is_same(handler, now.get(source))]


def _sources_with_other_streams(old: ImportedFiles, new: ImportedFiles) -> list[str]:
    """Return the pages of which a stream is another function now, or missing."""
    return [
        source
        for source, page in old.pages.items()
        for name, stream in page.streams.items()
        if source not in new.pages
        or not is_same(stream.function, _stream_of(new.pages[source], name))
    ]


def _stream_of(page: PageCode, name: str) -> Any:
    stream = page.streams.get(name)
    return None if stream is None else stream.function


def _socket_handlers(code: ImportedFiles) -> dict[str, Any]:
    return {
        **{source: page.websocket for source, page in code.pages.items()},
        **{source: names.get("websocket") for source, names in code.endpoints.items()},
    }


def _names_of(files: Iterable[str]) -> list[str]:
    """Return the names of the imported modules of ``files``, in their order."""
    files = [file for file in files if not file.endswith((PAGE_SUFFIX, MARKDOWN_SUFFIX))]
    by_file: dict[str, str] = {}
    for name, module in list(sys.modules.items()) if files else ():
        file = file_of(module)
        if file and not name.startswith(MODULE_PREFIX):
            by_file[file] = name
    return [by_file[file] for file in files if file in by_file]


def _renewed(
    code: ImportedFiles,
    imports: Imports,
    config: Config,
    manifest: Manifest,
    sources: Iterable[str],
) -> ImportedFiles:
    """Return the code of ``manifest``: that of ``sources`` and of new files is run."""
    changed = set(sources)
    pages: dict[str, Any] = {}
    for source, module in manifest.modules.items():
        known = code.pages.get(source)
        if known is None or source in changed:
            known = imports.code(module, config)
        # What the text says without being run (CACHE, MEMO, HEAD) may be other than before.
        is_same_module = known.module is module or known.module == module
        pages[source] = known if is_same_module else replace(known, module=module)

    def files(known: Any, wanted: Iterable[str]) -> dict[str, Any]:
        return {
            source: known[source]
            if source in known and source not in changed
            # A deleted name must not stay: a new module, and not the old one reloaded.
            else imports.file(source)
            for source in wanted
        }

    llms = manifest.llms.values() if config.llms.enabled else ()
    return ImportedFiles(
        pages,
        files(code.endpoints, [route.source for route in manifest.api]),
        files(code.llms, llms),
        files(code.actions, [module.source for module in manifest.actions]),
    )


def is_same(one: object, other: object) -> bool:
    """Return whether both are functions of the same text, or the same object.

    What they call may be other than before: that is not looked at.
    """
    if one is other:
        return True
    inner = getattr(one, "__wrapped__", None), getattr(other, "__wrapped__", None)
    if inner != (None, None) and not is_same(*inner):
        return False
    codes = getattr(one, "__code__", None), getattr(other, "__code__", None)
    if not (isinstance(codes[0], CodeType) and isinstance(codes[1], CodeType)):
        return False
    same_defaults = all(
        repr(getattr(one, name, None)) == repr(getattr(other, name, None))
        for name in ("__defaults__", "__kwdefaults__")
    )
    return same_defaults and _bare(codes[0]) == _bare(codes[1])


def _bare(code: CodeType) -> CodeType:
    """Return code without its places, and that of the functions in it."""
    constants = (_bare(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(
        co_firstlineno=1, co_linetable=b"", co_filename="", co_consts=tuple(constants)
    )
