"""The task of the process that imports a project to describe it: see `project_process`."""

from __future__ import annotations

import logging
import pickle
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import msgspec

from fxtrio.compile.problems import CompileFailed, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.errors import FxtrioError, PlacedError
from fxtrio.imports import Imports, resolve
from fxtrio.serve.pages.functions.endpoint_code import written_functions
from fxtrio.tools.openapi.document import Description, make_document
from fxtrio.tools.openapi.documented import Documented, said_of
from fxtrio.tools.openapi.operations import Operation
from fxtrio.tools.openapi.schemas import WHOLE, Limits, Schemas
from fxtrio.tools.openapi.security import guard_of
from fxtrio.tools.project_process.child import Write
from fxtrio.tools.types.gather.gather import Functions, Namespaces, gather
from fxtrio.tools.types.python.pydantic_models import is_pydantic, schema_of

_NO_VERSION = "0"


class Undescribed(msgspec.Struct, frozen=True):
    """Why a project cannot be described."""

    message: str


class NotImported(PlacedError):
    """Code of the project cannot be imported, so nothing is known of it."""

    remedy = "Run 'fx check', and correct its errors"

    def __init__(self, source: str, error: BaseException) -> None:
        cause = f"{type(error).__name__}: {error}".rstrip(".")
        super().__init__(source, f"it cannot be imported: {cause}")


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


log = logging.getLogger("fx.openapi")

_PYDANTIC = (
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
)
_BOUNDS = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}
_NO_ECMA = re.compile(r"\(\?(?![:=!])|\\[AZ]|[*+?}]\+")
"""What regular expressions of ECMA-262 do not have, or mean otherwise."""


def limits_of(python: str) -> Limits:
    """Return what the class ``module.Class`` demands besides types, by the keys of its JSON.

    pydantic says it itself; of attrs classes it is in the validators. What cannot be said, or
    holds only behind a converter, is left out: a schema may allow too much, never too little.
    """
    kind = _class(python)
    if kind is None:
        return {}
    if is_pydantic(kind):
        return _of_pydantic(kind)
    return _of_attrs(kind) if attrs.has(kind) else {}


def _class(python: str) -> type | None:
    """Return an imported class; None for one that no name leads to."""
    parts = python.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        if found is not None:
            for name in parts[cut:]:
                found = getattr(found, name, None)
            return found if isinstance(found, type) else None
    return None


def _of_pydantic(kind: Any) -> Limits:
    try:
        whole = schema_of(kind, incoming=True)
    except Exception:  # application code may take part, and some types have no schema
        log.warning("%s has no JSON Schema: its limits are left out", kind, exc_info=True)
        return {}
    if "$ref" in whole:  # it refers to itself
        whole = whole["$defs"][whole["$ref"].rpartition("/")[2]]
    found: dict[str, dict[str, Any]] = {}
    if whole.get("additionalProperties") is False:
        found[WHOLE] = {"additionalProperties": False}
    for name, schema in whole.get("properties", {}).items():
        several = schema.get("anyOf", [schema])
        values = [one for one in several if one.get("type") != "null"]
        limits = {key: values[0][key] for key in _PYDANTIC if len(values) == 1 and key in values[0]}
        if "description" in schema:
            limits["description"] = schema["description"]
        if schema.get("default") is not None:
            limits["default"] = schema["default"]
        found[name] = limits
    return found


def _of_attrs(kind: Any) -> Limits:
    return {
        field.name: _of_validator(field.validator)
        for field in attrs.fields(kind)
        if field.init and field.validator is not None and field.converter is None
    }


def _of_validator(validator: Any) -> dict[str, Any]:
    """Return what one of attrs' own validators demands; nothing of any other."""
    name = type(validator).__name__
    if name == "_AndValidator":
        found: dict[str, Any] = {}
        for one in validator._validators:
            found.update(_of_validator(one))
        return found
    if name == "_OptionalValidator":
        return _of_validator(validator.validator)
    if name == "_MinLengthValidator":
        return {"minLength": validator.min_length}
    if name == "_MaxLengthValidator":
        return {"maxLength": validator.max_length}
    if name == "_NumberValidator" and isinstance(validator.bound, (int, float)):
        return {_BOUNDS[validator.compare_op]: validator.bound}
    if name == "_MatchesReValidator":
        return _pattern(validator)
    return {}


def _pattern(validator: Any) -> dict[str, Any]:
    pattern = validator.pattern
    if not isinstance(pattern.pattern, str) or pattern.flags & ~re.UNICODE:
        return {}
    if _NO_ECMA.search(pattern.pattern):
        return {}
    ends = {"fullmatch": ("^(?:", ")$"), "match": ("^(?:", ")"), "search": ("", "")}
    called = getattr(validator.match_func, "__name__", "")
    if called not in ends:
        return {}
    before, after = ends[called]
    return {"pattern": f"{before}{pattern.pattern}{after}"}
