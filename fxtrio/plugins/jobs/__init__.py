"""A page that shows durable jobs, and lets people retry and discard them: the jobs plugin.

Name it ``"jobs"`` in ``plugins``. Begin with `plugin`; `overview` reads the database, and
`html` makes HTML of that.
"""

from fxtrio.plugins.jobs.plugin import JobsPlugin, JobsSettings

__all__ = ["JobsPlugin", "JobsSettings"]
