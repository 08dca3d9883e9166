"""An error page knows the id under which the log has its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from tests.trees import write_tree

PAGE = """
@server
async def load(request):
    raise LoaderError("Not now.", {status})


export default function Page() {{
  return <p>never</p>;
}}
"""
ERROR = """
export default function ErrorPage({ error }) {
  return <p>id {error.requestId}.</p>;
}
"""


@pytest.mark.node
async def test_the_id_is_there_from_status_500_on(tmp_path: Path) -> None:
    pages = {
        "pages/error.fxl": ERROR,
        "pages/down.fxl": PAGE.format(status=503),
        "pages/gone.fxl": PAGE.format(status=410),
    }
    async with open_app(write_tree(tmp_path, pages)) as client:
        down = await client.get("/down")
        client_error = await client.get("/gone")
    known = down.headers["x-request-id"]
    assert f'"requestId":"{known}"' in down.text
    assert "requestId" not in client_error.text
