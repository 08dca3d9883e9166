"""What browsers and the app call by the same names has the same names on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

import fxtrio
from fxtrio.runtime import INVALIDATE_HEADER
from fxtrio.serve.request import client_protocol, csrf

CLIENT = Path(fxtrio.__file__).parent / "js" / "client"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("navigation/visits/visit.js", client_protocol.NAVIGATION.decode()),
        ("navigation/visits/visit.js", client_protocol.ONLY.decode()),
        ("navigation/visits/payload.js", client_protocol.PAYLOAD.decode()),
        ("navigation/visits/payload.js", client_protocol.PAYLOAD_FILE),
        ("actions/action-call.js", INVALIDATE_HEADER),
        ("actions/action-call.js", csrf.COOKIE),
        ("actions/action-call.js", csrf.SECURE_COOKIE),
        ("actions/action-call.js", csrf.HEADER.decode()),
    ],
)
def test_the_browser_uses_the_names_of_the_app(file: str, name: str) -> None:
    assert f"'{name}'" in (CLIENT / file).read_text(encoding="utf-8")


def test_documents_are_left_where_the_app_listens() -> None:
    called = f"{client_protocol.LEAVE}?${{id}}`"

    assert called in (CLIENT / "start.js").read_text(encoding="utf-8")


def test_actions_are_called_where_the_app_has_them() -> None:
    called = f"${{base}}{client_protocol.ACTIONS}${{path}}/"

    assert called in (CLIENT / "actions/action-call.js").read_text(encoding="utf-8")
