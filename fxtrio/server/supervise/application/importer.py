"""Finds the ASGI application that ``module:name`` means."""

from __future__ import annotations

import importlib
import inspect
import traceback
from functools import partial, reduce
from pathlib import Path
from typing import Any

from fxtrio.errors import PlacedError
from fxtrio.import_path import put_on_path
from fxtrio.log import log_early
from fxtrio.observe.stalls import watch_import
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.tracebacks import trimmed


class AppNotFound(PlacedError):
    """The application that is to be served cannot be imported."""

    remedy = "Name an ASGI application as 'module:name'"


def load_application(options: ServeOptions) -> Any:
    """Import and return the application, or call its factory with ``options.factory``.

    Prepends ``options.app_dir`` to the import path. Raises AppNotFound if the name cannot
    be resolved; the module's own errors propagate. An import that does not end is logged.
    """
    write = partial(log_early, log_format=options.log_format, level=options.log_level)
    with watch_import(write):
        return _load(options)


def _load(options: ServeOptions) -> Any:
    target = options.app
    module_name, _, path = target.partition(":")
    if not module_name or not path:
        raise AppNotFound(target, "it has no module and name")
    put_on_path(Path(options.app_dir).resolve())
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
    if options.factory and callable(app):
        app = app()
        path = f"{path}()"
    _check_application(target, path, app)
    return app


def _check_application(target: str, path: str, app: Any) -> None:
    """Raise AppNotFound for an object that is certainly no ASGI 3 application."""
    if not callable(app):
        raise AppNotFound(target, f"{path} is not callable: its type is {type(app).__name__}")
    try:
        signature = inspect.signature(app)
    except ValueError:  # written in another language
        return
    if _takes(signature, 3):
        return
    if _takes(signature, 0):
        raise AppNotFound(
            target, f"{path} takes no parameters: if it returns the application, add --factory"
        )
    raise AppNotFound(target, f"{path} does not take scope, receive and send")


def _takes(signature: inspect.Signature, number: int) -> bool:
    try:
        signature.bind(*[None] * number)
    except TypeError:
        return False
    return True


def explain_failure(options: ServeOptions, error: BaseException) -> str:
    """Return what to report in place of an error that `load_application` raised; "" for nothing.

    ``options.explain`` knows it, of what an application's own code is to blame for.
    """
    module, _, name = options.explain.partition(":")
    if not module:
        return ""
    explained = getattr(importlib.import_module(module), name)(error)
    return "" if explained is None else str(explained)


def own_lines(error: BaseException) -> list[str]:
    """Return the traceback of an application's error, without the frames of its import."""
    return traceback.format_exception(trimmed(error))
