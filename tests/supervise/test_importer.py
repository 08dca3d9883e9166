"""What `--app` may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.server.supervise.application.importer import AppNotFound, load_application
from fxtrio.server.supervise.options import ServeOptions

SOURCE = """
async def app(scope, receive, send): ...

def make(): return app

def make_nothing(): return None

class Old:
    def __init__(self, scope): ...

class Framework:
    async def __call__(self, scope, receive, send): ...

framework = Framework()
number = 5
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop_served.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)


def load(name: str, *, factory: bool = False) -> object:
    return load_application(ServeOptions(app=f"shop_served:{name}", factory=factory))


@pytest.mark.parametrize("name", ["app", "framework", "framework.__call__"])
def test_an_application_is_what_takes_scope_receive_and_send(name: str) -> None:
    assert callable(load(name))


def test_a_factory_returns_the_application() -> None:
    assert load("make", factory=True) is load("app")


@pytest.mark.parametrize(
    ("name", "factory", "cause"),
    [
        ("make", False, "make takes no parameters: if it returns the application, add --factory"),
        ("make_nothing", True, r"make_nothing\(\) is not callable: its type is NoneType"),
        ("number", False, "number is not callable: its type is int"),
        ("number", True, "number is not callable: its type is int"),
        ("Old", False, "Old does not take scope, receive and send"),
        ("missing", False, "has no attribute 'missing'"),
    ],
)
def test_other_things_are_rejected_with_the_reason(name: str, factory: bool, cause: str) -> None:
    with pytest.raises(AppNotFound, match=cause):
        load(name, factory=factory)
