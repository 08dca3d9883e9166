"""Python code is read by several threads of a build, one after the other."""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Iterator
from itertools import repeat

import pytest

from fxtrio.compile.split.language_detection import has_ui_token
from fxtrio.compile.split.python_statements import Broken, parse, parse_module

THREADS = 8


@pytest.fixture
def _hasty() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hasty")
def test_no_two_threads_parse_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ast.parse
    inside: list[int] = []
    most: list[int] = []
    begun = threading.Barrier(THREADS)

    def watched(code: str, feature_version: tuple[int, int] | None = None) -> ast.Module:
        inside.append(1)
        for _ in repeat(None, 50):
            most.append(len(inside))
            plain("several = ['calls', 'of', 'the', 'interpreter']")
        inside.pop()
        return plain(code, feature_version=feature_version)

    found: list[object] = []

    def work(number: int) -> None:
        begun.wait()
        read = parse if number % 2 else parse_module
        found.append(read(f"number = {number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    with monkeypatch.context() as patched:
        patched.setattr(ast, "parse", watched)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(found) == THREADS
    assert not any(isinstance(one, Broken) for one in found)
    assert max(most) == 1


@pytest.mark.parametrize(
    ("code", "is_ui"),
    [
        ("<p>don't x => y", True),
        ('x = """a => b', True),
        ('don\'t "a => b"', False),
        ("x = 'abc  # what?", False),
        ("x = 'a => b' + \"c ? d\"", False),
    ],
)
def test_an_unclosed_quote_does_not_hide_the_code_behind_it(code: str, is_ui: bool) -> None:
    assert has_ui_token(code) is is_ui
