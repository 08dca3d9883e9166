"""The task of the process that imports a project to describe it: see `project_process`."""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fxtrio.compile.problems import CompileFailed, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.imports import Imports, resolve
from fxtrio.serve.pages.functions.endpoint_code import written_functions
from fxtrio.tools.openapi.constraints import limits_of
from fxtrio.tools.openapi.document import Description, make_document
from fxtrio.tools.openapi.documented import Documented, said_of
from fxtrio.tools.openapi.operations import Operation
from fxtrio.tools.openapi.schemas import Schemas
from fxtrio.tools.openapi.security import guard_of
from fxtrio.tools.project_process.child import Write
from fxtrio.tools.types.gather.gather import Functions, Namespaces, gather

_NO_VERSION = "0"


class Undescribed(msgspec.Struct, frozen=True):
    """Why a project cannot be described."""

    message: str


class NotImported(FxtrioError):
    """Code of the project cannot be imported, so nothing is known of it."""

    def __init__(self, source: str, error: BaseException) -> None:
        cause = f"{type(error).__name__}: {error}".rstrip(".")
        super().__init__(
            f"{source}: it cannot be imported: {cause}. Run 'fx check', and correct its errors."
        )
        self.source = source


def answer(order: bytes, write: Write) -> None:
    """Describe the project of a pickled pair, its folder and its settings.

    Writes a `Description` or `Undescribed` as JSON.
    """
    root, config = pickle.loads(order)
    described: Description | Undescribed
    try:
        described = describe_imported(root, config)
    except FxtrioError as error:
        described = Undescribed(str(error))
    write(msgspec.json.encode(described))


def describe_imported(root: Path, config: Config) -> Description:
    """Import the project in ``root`` and return its document.

    Raises CompileFailed and NotImported.
    """
    project = check_project(root, config)
    if project.problems:
        raise CompileFailed(placed(project.problems, root))
    pages, endpoints = _import_all(root, project)
    types = gather(root, project, pages, endpoints)
    version = _version(root)
    schemas = Schemas(limits_of)
    guard = guard_of(config, resolve)
    hooks = {
        group: [resolve(name) for name in names]
        for group, names in config.route_middleware.lists().items()
    }

    def said(operation: Operation) -> tuple[Documented, ...]:
        if operation.kind == "api":
            functions = endpoints[operation.source]
            own = functions.get(operation.method, functions.get("*"))
            return said_of([own, *hooks["apis"]])
        own = pages[operation.source].get(operation.action.rpartition(".")[2])
        return said_of([own, *hooks["pages"], *hooks["actions"]])

    def is_tool(operation: Operation) -> bool:
        if operation.kind != "action":
            return False
        own = pages[operation.source].get(operation.action.rpartition(".")[2])
        return getattr(own, "__fx_tool__", False) is True

    return make_document(
        *(types, config), version=version, schemas=schemas, guard=guard, said=said, is_tool=is_tool
    )


def _import_all(root: Path, project: CheckedProject) -> tuple[Namespaces, Functions]:
    """Return what all files have, by their sources.

    That is the names of pages and modules of actions, and the functions of endpoints.
    """
    imports = Imports(root, root)
    source = ""
    try:
        pages: dict[str, Mapping[str, Any]] = {}
        for page in project.pages:
            source = page.module.source
            if page.module.code is not None:
                pages[source] = imports.page(page.module, page.python.encode())
        for module in project.actions:
            source = module.source
            pages[source] = imports.file(source)
        endpoints: dict[str, Mapping[str, Any]] = {}
        for route in project.tree.api:
            source = route.source
            endpoints[source] = written_functions(source, imports.file(source))
    except (Exception, SystemExit) as error:  # application code
        raise NotImported(source, error) from error
    return pages, endpoints


def _version(root: Path) -> str:
    """Return the version that ``pyproject.toml`` gives to the application, or "0"."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("project", {})
    except (OSError, ValueError):
        return _NO_VERSION
    version = project.get("version") if isinstance(project, dict) else None
    return version if isinstance(version, str) else _NO_VERSION
