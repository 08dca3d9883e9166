"""Clients of others decode what `fx serve` sends, assets of `fx build` included."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import trio

from tests.cli.test_build_and_serve import built, serving

__all__ = ["built"]

CODINGS = ["br", "zstd", "gzip"]


@pytest.mark.node
@pytest.mark.parametrize("coding", CODINGS)
async def test_a_client_reads_pages_assets_and_payloads(built: Path, coding: str) -> None:
    command = ["fxtrio", "serve", "--port", "PORT"]
    headers = {"accept-encoding": coding}
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, _):
            plain = await client.get("/", headers={"accept-encoding": "identity"})
            client.cookies.clear()
            script = re.findall(r'<script type="module"[^>]* src="([^"]+)"', plain.text)[0]
            for url, more in (("/", {}), ("/", {"x-fx-navigation": "1"}), (script, {})):
                found = await client.get(url, headers={**headers, **more})
                same = await client.get(url, headers={"accept-encoding": "identity", **more})
                client.cookies.clear()
                expected = coding if len(same.content) >= 500 else None
                assert found.headers.get("content-encoding") == expected
                assert "content-encoding" not in same.headers
                assert len(found.text) == len(same.text)
            favicon = await client.get("/favicon.svg", headers=headers)
            signed_in = await client.get("/", headers={**headers, "cookie": "session=1"})
            assert len(plain.content) > 500
    assert favicon.text.startswith("<svg")
    assert "content-encoding" not in signed_in.headers
    assert "<h1>Notes</h1>" in signed_in.text


@pytest.mark.node
async def test_curl_reads_what_it_asks_for(built: Path) -> None:
    curl = shutil.which("curl")
    assert curl is not None
    command = ["fxtrio", "serve", "--port", "PORT"]
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, _):
            url = str(client.base_url)
            ran = await trio.run_process(
                [curl, "-s", "-i", "--compressed", url], capture_stdout=True, check=True
            )
            text = ran.stdout.decode()
    assert re.search(r"(?im)^content-encoding: (zstd|br|gzip)\r$", text)
    assert "<h1>Notes</h1>" in text
