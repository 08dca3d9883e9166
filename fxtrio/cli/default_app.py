"""The ASGI app of a project that has no app file: what `fx serve` names to its processes."""

from __future__ import annotations

import os

from fxtrio.app import create_app
from fxtrio.application import Application


def make_app() -> Application:
    """Return the app of the project in the folder that FX_PROJECT names."""
    return create_app(os.environ["FX_PROJECT"])
