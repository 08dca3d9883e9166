"""What did not hold: once for each cause, with the bytes and how to send them again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import attrs

from .cases import Case

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|\d+")


EXPECTED = re.compile(r"is not valid Unicode, and was sent with U\+FFFD")
"""What may be logged as an error once, since the application has made that text itself."""


@attrs.frozen
class Finding:
    """Something that must not happen. ``case`` is None while it is not known what did it."""

    kind: str
    """Such as ``status``, ``stall``, ``log``, ``breach`` or ``page``."""

    cause: str
    """What is the same each time: two findings with equal kind and cause are one."""

    detail: str = ""
    case: Case | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What tells one finding from another."""
        return self.kind, self.cause

    def report(self, folder: Path) -> str:
        """Save the case below ``folder`` and return what a person has to know."""
        lines = [f"FOUND {self.kind}: {self.cause}"]
        if self.detail and self.detail != self.cause:
            lines += [f"    {line}" for line in self.detail.splitlines()[-40:]]
        if self.case is None:
            return "\n".join([*lines, "    Nothing that was sent shows it by itself."])
        name = re.sub(r"\W+", "-", f"{self.case.surface} {self.kind} {self.cause}")[:80].strip("-")
        path = folder / f"{name}.case"
        self.case.save(path, cause=f"{self.kind}: {self.cause}")
        sent = b"".join(self.case.pieces)
        lines.append(f"    {len(sent)} bytes of {self.case.surface}: {sent[:300]!r}")
        return "\n".join([*lines, f"    Again: python -m tests.attack --replay {path}"])


def find_in_log(log: str) -> list[Finding]:
    """Return the errors of a server's log, tracebacks at any level, and lines that are no record.

    Each line must be an object of JSON, of a client's making or not.
    """
    found = []
    for line in log.split("\n")[:-1]:
        if _CONTROL.search(line):
            found.append(Finding("log", "a control character as it is", repr(line)))
        try:
            record = json.loads(line)
            level, message = record["level"], record["message"]
        except (ValueError, TypeError, KeyError):
            found.append(Finding("log", "a line that is no record", line))
            continue
        traceback = record.get("traceback", "")
        if EXPECTED.search(message):
            continue
        if level in ("ERROR", "CRITICAL") or "Traceback" in traceback + message:
            last = traceback.strip().splitlines()[-1:]
            cause = " / ".join([message.partition("\n")[0], *last])
            found.append(Finding("log", _VARIES.sub("…", cause)[:200], f"{message}\n{traceback}"))
    return found
