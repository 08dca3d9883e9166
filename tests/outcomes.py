"""Counts the tests of a run that have an outcome, for those who run its failures once more."""

from __future__ import annotations

import attrs
import pytest

from tests.ci import OUTCOMES, name_not_run


@attrs.define(eq=False)
class Outcomes:
    """A plugin that fails a run in which a collected test has no outcome."""

    _known: set[str] = attrs.field(factory=set, init=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a test that has run, or whose fixtures say why it has not."""
        if report.when == "call" or not report.passed:
            self._known.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Name the tests that have no outcome, and write the record."""
        config = session.config
        if config.option.collectonly or hasattr(config, "workerinput"):  # of pytest-xdist
            return
        missing = [item.nodeid for item in session.items if item.nodeid not in self._known]
        if missing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            reporter = config.pluginmanager.getplugin("terminalreporter")
            reporter.write_line(name_not_run(missing), red=True)
        if config.pluginmanager.has_plugin("cacheprovider"):
            record = {"status": int(session.exitstatus), "missing": missing}
            assert config.cache is not None
            config.cache.set(OUTCOMES, record)
