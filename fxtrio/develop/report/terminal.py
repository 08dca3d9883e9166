"""What `fx dev` prints."""

from __future__ import annotations

import os

import attrs
import click

from fxtrio.compile.check.problem_kinds import Severity
from fxtrio.compile.problems import Problem
from fxtrio.develop.build.applied import Applied
from fxtrio.develop.processes.server_child import Failure
from fxtrio.log import printable_in_colours

_FILES_NAMED = 3


@attrs.frozen
class Terminal:
    """Prints to standard output, in colours where somebody sees them. A `Reporter` of the loop."""

    # rich would take longer to import than all of trio's loop.
    colours: bool | None = attrs.field(
        factory=lambda: False if os.environ.get("NO_COLOR") else None
    )
    """None for what the output is: a terminal or not."""

    url: str = ""
    """Where the project is served, printed each time that it answers again."""

    def built(self, seconds: float) -> None:
        """Say that the project has been compiled."""
        self._say("✓", "green", f"compiled in {seconds:.1f} s")

    def started(self, seconds: float) -> None:
        """Say that the app serves."""
        self._say("✓", "green", f"started in {seconds:.1f} s")
        if self.url:
            self._say("→", "green", self.url)

    def changed(self, files: tuple[str, ...]) -> None:
        """Say which files have changed."""
        named = ", ".join(files[:_FILES_NAMED])
        more = len(files) - _FILES_NAMED
        self._say("~", "yellow", f"{named} and {more} more" if more > 0 else named)

    def applied(self, applied: Applied, seconds: float) -> None:
        """Say what came of a change."""
        if applied.restart:
            self._say("↻", "yellow", f"restarting the server process: {applied.restart}")
            return
        for problem in applied.problems:
            self._say("✗", "red", problem)
        if not applied.problems:
            count = applied.modules
            swapped = f", {count} {'module' if count == 1 else 'modules'} run" if count else ""
            self._say("✓", "green", f"updated in {seconds * 1000:.0f} ms{swapped}")

    def failed(self, failure: Failure) -> None:
        """Show why there is no app."""
        self._say("✗", "red", failure.title)
        if failure.details:
            self.line(failure.details)
        if self.url:
            self._say("→", "yellow", f"{self.url} shows the error, until you correct it")

    def found(self, problem: Problem) -> None:
        """Show what a check has found, by its severity."""
        if problem.severity is Severity.ERROR:
            self._say("✗", "red", str(problem))
        else:
            self.warn(str(problem))

    def warn(self, text: str) -> None:
        """Show what may be a mistake, and does not keep the app from being served."""
        self._say("!", "yellow", text)

    def line(self, text: str) -> None:
        """Print what any of the processes says. Its colours stay, and nothing else is obeyed.

        Names of files that are no text are written with their bytes.
        """
        try:
            printable = printable_in_colours(text).encode(errors="backslashreplace").decode()
            click.echo(printable, color=self.colours)
        except BrokenPipeError:
            raise  # nobody reads any more
        except OSError:
            return  # into a file on a full disk: pages show the problems, too

    def _say(self, sign: str, colour: str, text: str) -> None:
        self.line(click.style(sign, fg=colour, bold=True) + f" {text}")
