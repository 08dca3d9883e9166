"""`create_app(root)`: the ASGI app of a built project, with its code and its renderer."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from fxtrio.application import Application
from fxtrio.config import Config, load_config
from fxtrio.context import developing
from fxtrio.errors import DottedNameUnknown
from fxtrio.imports import ImportedFiles, Imports, resolve
from fxtrio.manifest import FOLDERS, Manifest, load_manifest
from fxtrio.node import NodeMissing
from fxtrio.plugins.load import load_plugins
from fxtrio.plugins.protocol import Plugin, csrf_binding_of
from fxtrio.secret_key import project_key
from fxtrio.serve.cache.static_pages import stored_renders
from fxtrio.serve.cache.stored_renderer import StoredRenderer
from fxtrio.serve.pages.resources import Renderer
from fxtrio.serve.pages.site import Site, make_site, site_with
from fxtrio.serve.request.bodies import starlette_bodies
from fxtrio.serve.request.hooks import early_hooks_of, hooks_of
from fxtrio.serve.request.response import starlette_files
from fxtrio.ssr.pool import open_ssr_pool
from fxtrio.ssr.process.launch import choose_launch

log = logging.getLogger("fx.app")


class Development(Protocol):
    """What `fx dev` does for the app that it serves; `fxtrio.context.developing` leads to it."""

    def make_app(self, root: Path, config: Config, build: Path, manifest: Manifest) -> Application:
        """Return the app of a development build. Raises what the project's modules raise."""


def create_app(root: str | Path, **overrides: Any) -> Application:
    """Return the ASGI app of the project in the folder ``root``.

    ``overrides`` are settings as keyword arguments (`load_config`). ``mode`` selects the build:
    ``"production"`` (`fx build`) or ``"development"`` (`fx dev`); by default, the environment
    variable FX_MODE selects it, and without that variable it is production; ``"check"`` creates
    an app without pages, for `fx check`, which checks them one by one. Raises ManifestUnreadable
    if there is no such build, ConfigInvalid for invalid settings, and whatever the project's own
    modules raise on import.
    """
    mode = overrides.pop("mode", None) or os.environ.get("FX_MODE", "production")
    root = Path(root).resolve()
    config = load_config(root, **overrides)
    build = root / FOLDERS["development" if mode == "development" else "production"]
    checking = mode == "check"
    manifest = Manifest(build_id="", mode="development") if checking else load_manifest(build)
    development: Development | None = developing.get()
    if development is not None and mode == "development":
        return development.make_app(root, config, build, manifest)
    return assemble(
        root, config, build, manifest, open_renderer=partial(open_pool, build, manifest, config)
    )


def open_pool(
    build: Path, manifest: Manifest, config: Config
) -> AbstractAsyncContextManager[Renderer]:
    """Run the Node processes that render a build, for the length of a block.

    Without Node, a build that has rendered all pages is served as it is. Raises NodeMissing for
    others.
    """
    try:
        launch = choose_launch(build, manifest, config)
    except NodeMissing:
        if not manifest.is_static:
            raise
        return nullcontext(StoredRenderer(stored_renders(build)))
    return open_ssr_pool(
        bundle=launch.bundle,
        node=launch.node,
        workers=config.ssr.workers,
        timeout=config.timeouts.render,
        max_pending=config.ssr.max_pending,
        heap_mb=launch.heap_mb,
        mode=launch.mode,
    )


def assemble(
    root: Path,
    config: Config,
    build: Path,
    manifest: Manifest,
    *,
    open_renderer: Callable[[], AbstractAsyncContextManager[Renderer]],
) -> Application:
    """Return the app of a build with a renderer of the caller's choice.

    Imports the project's modules, and raises what they raise.
    """
    if not config.secret_keys:
        if manifest.mode == "production":
            log.warning("FX_SECRET_KEY is not set: using the key of this machine, from .fx.")
        config = replace(config, secret_keys=(project_key(root),))
    starlette_bodies.install()
    starlette_files.install()
    files = Imports(root, build).all_files(manifest, config)
    plugins = load_plugins(config, root=root, resolve=resolve)
    site = put_together(root, config, manifest, files, plugins)
    return Application(site, root=root, build=build, plugins=plugins, open_renderer=open_renderer)


def put_together(
    root: Path,
    config: Config,
    manifest: Manifest,
    files: ImportedFiles,
    plugins: tuple[Plugin[Any], ...],
    before: Site | None = None,
) -> Site:
    """Return the site of a build whose modules have been imported; see `make_site`.

    The modules of middleware, hooks and `translate` are imported here. Raises what they raise. What
    they lack is an error at the start only: it may follow `create_app` in the module of the app.
    """
    for name in filter(None, (*config.middleware, config.translate)):
        with suppress(DottedNameUnknown):
            resolve(name)
    return make_site(
        config,
        manifest,
        files.pages,
        files.endpoints,
        early_hooks_of(config, resolve) if before is None else hooks_of(config, resolve),
        root=root,
        llms=files.llms,
        actions=files.actions,
        session_of=csrf_binding_of(plugins),
        before=before,
    )


def put_into(site: Site, root: Path, files: ImportedFiles) -> Site:
    """Return ``site`` with other code of the same manifest, for development."""
    return site_with(
        site,
        files.pages,
        files.endpoints,
        hooks_of(site.config, resolve),
        root=root,
        llms=files.llms,
        actions=files.actions,
    )
