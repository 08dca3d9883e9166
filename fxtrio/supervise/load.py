"""Finds the ASGI application that ``module:name`` means."""

from __future__ import annotations

import importlib
import sys
import traceback
from functools import reduce
from pathlib import Path
from typing import Any

from fxtrio.errors import AppNotFound
from fxtrio.supervise.options import ServeOptions
from fxtrio.tracebacks import trimmed


def load_application(options: ServeOptions) -> Any:
    """Import and return the application, or make it when ``options.factory`` says so.

    Puts ``options.app_dir`` in front of the import path. Raises AppNotFound when
    the name leads nowhere; what the module itself raises comes through.
    """
    target = options.app
    module_name, _, path = target.partition(":")
    if not module_name or not path:
        raise AppNotFound(target, "it has no module and name")
    folder = str(Path(options.app_dir).resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module exists, and one that it imports does not
        raise AppNotFound(target, f"there is no module {error.name!r}") from None
    try:
        app = reduce(getattr, path.split("."), module)
    except AttributeError as error:
        raise AppNotFound(target, str(error)) from None
    if not callable(app):
        raise AppNotFound(target, f"{path!r} is a {type(app).__name__}")
    return app() if options.factory else app


def own_lines(error: BaseException) -> list[str]:
    """Return the traceback of what an application raised, without how it was imported."""
    return traceback.format_exception(trimmed(error))
