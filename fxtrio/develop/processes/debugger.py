"""Debuggers in `fx dev`: the server process listens for one with ``--inspect``.

`debugpy` speaks the Debug Adapter Protocol, which VS Code, PyCharm and Neovim speak. It is
installed beside fxtrio, and started by its own command line: neither is imported here.
"""

from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from fxtrio.errors import PlacedError, display_path

log = logging.getLogger("fx.dev")


class DebuggerMissing(PlacedError):
    """``fx dev --inspect`` without debugpy."""

    def __init__(self) -> None:
        super().__init__("--inspect", "debugpy is not installed", 'Run "pip install debugpy"')


def require_debugger() -> None:
    """Raise DebuggerMissing unless debugpy is installed."""
    if find_spec("debugpy") is None:
        raise DebuggerMissing


def interpreter_arguments(port: int) -> list[str]:
    """Return what stands before ``-m module``, so that a debugger can attach; none for port 0.

    The modules that Python brings frozen have no files, so a debugger cannot stop in them.
    """
    if port == 0:
        return []
    return ["-Xfrozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]


def replace_breakpoint() -> None:
    """Let ``breakpoint()`` log what to do instead of reading the standard input.

    The standard input of the server process carries the orders of `fx dev`. Another hook stays:
    that of debugpy, and the one that PYTHONBREAKPOINT names.
    """
    if sys.breakpointhook is sys.__breakpointhook__ and "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = _log_breakpoint


def _log_breakpoint(*_: object, **__: object) -> None:
    caller = sys._getframe(1)
    log.warning(
        "%s:%d: breakpoint() needs a debugger. Start 'fx dev --inspect', and attach your editor",
        display_path(Path(caller.f_code.co_filename)),
        caller.f_lineno,
    )
