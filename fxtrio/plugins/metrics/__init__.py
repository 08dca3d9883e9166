"""Metrics in the format of Prometheus, of all processes that serve an app.

The plugin that `observability.metrics` of the settings opens (`fxtrio.plugins.load`); nothing
else imports it. Begin with `plugin`.
"""

from fxtrio.plugins.metrics.plugin import MetricsPlugin

__all__ = ["MetricsPlugin"]
