"""Proof that the attack finds what it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from .attack import replay
from .cases import Case, Message
from .findings import Finding
from .target import build, open_target


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("attacked"))


PLANTED = {
    "stall": "stall",
    "failure": "status",
    "error": "log",
    "canary": "breach",
    "breach": "breach",
}


async def test_a_mistake_of_the_app_is_found(app: Path) -> None:
    async with open_target(app, planted=True) as target:
        for fault, kind in PLANTED.items():
            case = Case("query", (Message(b"/api/planted?fault=" + fault.encode()).to_bytes(),))
            found: list[Finding] = [one async for one in replay(target, case)]
            assert kind in [one.kind for one in found], fault
            assert all(one.case == case for one in found)
