"""The fixtures of `fx.testing`, as a project's tests use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client
from fxtrio.app_handle import get_app
from fxtrio.testing.fixtures import fx_client, fx_settings
from tests.trees import page, write_tree

__all__ = ["fx_client", "fx_settings"]


@pytest.fixture
def fx_root(tmp_path: Path) -> Path:
    loader = """
        @server
        async def load(request):
            return {"message": "from the fixture"}
        """
    return write_tree(tmp_path, {"pages/index.fxl": page(loader)})


async def test_a_test_gets_a_client_of_its_app(fx_client: Client) -> None:
    assert (await fx_client.load_page("/")).data == {"message": "from the fixture"}


async def test_the_code_of_a_test_belongs_to_the_app_of_its_client(fx_client: Client) -> None:
    assert get_app() is fx_client.app.state.fx


async def test_the_app_has_the_settings_of_the_fixture(
    fx_client: Client, fx_settings: dict[str, Any]
) -> None:
    assert fx_settings == {}
    assert fx_client.base_url == ""
