"""Defects, each handed to a function of the application, such as one that sends them to Sentry.

The plugin that `observability.errors` of the settings opens (`fxtrio.plugins.load`). Begin with
`plugin`.
"""

from fxtrio.plugins.error_reports.plugin import ErrorReportsPlugin
from fxtrio.plugins.error_reports.report import ErrorReport

__all__ = ["ErrorReport", "ErrorReportsPlugin"]
