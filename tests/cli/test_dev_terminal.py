"""What `fx dev` prints is obeyed by no terminal, whoever has said it."""

from __future__ import annotations

import pytest

from fxtrio.develop.report.terminal import Terminal


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("\x1b[31mred\x1b[0m\ttext", "\x1b[31mred\x1b[0m\ttext"),
        ("\x1b]0;forged\x07", "\\x1b]0;forged\\x07"),
        ("\x9b31m \x08\x7f\r", "\\x9b31m \\x08\\x7f\\r"),
        ("\x1b[2J\x1b[1;5m\x1b[", "\\x1b[2J\x1b[1;5m\\x1b["),
        ("\u202eforged", "\\u202eforged"),
    ],
)
def test_colours_of_a_process_stay_and_nothing_else_is_obeyed(
    line: str, printed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Terminal(colours=True).line(line)

    assert capfd.readouterr().out == f"{printed}\n"
