"""Files that were compressed when the project was built."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client
from fxtrio.app import assemble
from fxtrio.compile.build import compile_server
from fxtrio.compression import codings
from fxtrio.compression.codings import available, smallest_first
from fxtrio.compression.encoding_cache import EncodingCache
from fxtrio.compression.precompressed import compress_build
from fxtrio.config import load_config
from fxtrio.testing.open import open_no_render
from tests.compression.decode import decoded
from tests.trees import page, write_tree

SCRIPT = "export const words = 'again and again';\n" * 60
STYLE = "p { color: rebeccapurple }\n" * 60
ALL = {"accept-encoding": "gzip, deflate, br, zstd"}


@asynccontextmanager
async def served(root: Path, **settings: Any) -> AsyncIterator[Client]:
    """Serve a project that was built, with one asset, ``/_fx/app-1.js``."""
    write_tree(root, {"pages/index.fxl": page("")})
    build = root / "build"
    write_tree(build, {"client/app-1.js": SCRIPT, "client/app-1.js.map": SCRIPT})
    config = load_config(root, **settings)
    manifest = compile_server(root, config, build, mode="production")
    cache = EncodingCache(root / "forms")
    compress_build(build, manifest.assets.client, root / config.public_dir, cache)
    app = assemble(root, config, build, manifest, open_renderer=open_no_render)
    async with app.router.lifespan_context(app):
        yield Client(app)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip"])
async def test_an_asset_is_sent_in_the_coding_that_is_wanted(tmp_path: Path, coding: str) -> None:
    async with served(tmp_path) as client:
        plain = await client.get("/_fx/app-1.js")
        found = await client.get("/_fx/app-1.js", headers={"accept-encoding": coding})
        head = await client.request("HEAD", "/_fx/app-1.js", headers={"accept-encoding": coding})
    assert found.headers["content-encoding"] == coding
    assert decoded(coding, found.body) == plain.body == SCRIPT.encode()
    assert int(found.headers["content-length"]) == len(found.body) < len(SCRIPT) / 10
    for name in ("content-type", "cache-control", "vary"):
        assert found.headers[name] == plain.headers[name]
    assert found.headers["vary"] == "accept-encoding"
    own = {"x-request-id"}
    assert {k: v for k, v in head.headers.items() if k not in own} == {
        k: v for k, v in found.headers.items() if k not in own
    }


async def test_the_smallest_form_is_sent_to_who_takes_all(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        signed_in = {**ALL, "cookie": "session=1"}  # a file is the same for everybody
        found = await client.get("/_fx/app-1.js", headers=signed_in)
        rather_not = await client.get(
            "/_fx/app-1.js", headers={"accept-encoding": "identity, gzip;q=0.5"}
        )
    assert found.headers["content-encoding"] == "br"
    assert "content-encoding" not in rather_not.headers
    assert rather_not.headers["vary"] == "accept-encoding"


async def test_each_form_has_its_own_entity_tag_and_ranges(tmp_path: Path) -> None:
    url, gzip = "/_fx/app-1.js", {"accept-encoding": "gzip"}
    async with served(tmp_path) as client:
        whole = await client.get(url, headers=gzip)
        plain = await client.get(url)
        tag = whole.headers["etag"]
        same = await client.get(url, headers={**gzip, "if-none-match": tag})
        other = await client.get(url, headers={**gzip, "if-none-match": plain.headers["etag"]})
        part = await client.get(url, headers={**gzip, "range": "bytes=4-9", "if-range": tag})
        stale = await client.get(
            url, headers={**gzip, "range": "bytes=4-9", "if-range": plain.headers["etag"]}
        )
        of_plain = await client.get(url, headers={"range": "bytes=4-9"})
    assert tag.endswith('-gzip"') and tag != plain.headers["etag"]
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    assert "content-encoding" not in same.headers and same.headers["vary"] == "accept-encoding"
    assert (other.status, stale.status) == (200, 200)
    assert (part.status, part.body) == (206, whole.body[4:10])
    assert part.headers["content-encoding"] == "gzip"
    assert part.headers["content-range"] == f"bytes 4-9/{len(whole.body)}"
    assert (of_plain.status, of_plain.body) == (206, plain.body[4:10])


async def test_a_public_file_is_sent_compressed_until_it_changes(tmp_path: Path) -> None:
    write_tree(tmp_path, {"public/site.css": STYLE, "public/a/b.css": STYLE, "public/s.css": "p{}"})
    (tmp_path / "public/photo.png").write_bytes(b"\x89PNG" + b"0" * 2000)
    async with served(tmp_path) as client:
        first = await client.get("/site.css", headers=ALL)
        below = await client.get("/a/b.css", headers=ALL)
        left = [await client.get(url, headers=ALL) for url in ("/s.css", "/photo.png")]
        changed = STYLE.replace("purple", "orange")
        (tmp_path / "public/site.css").write_text(changed)
        os.utime(tmp_path / "public/site.css", (1, 1))
        second = await client.get("/site.css", headers=ALL)
    assert first.headers["content-encoding"] == below.headers["content-encoding"] == "br"
    assert decoded("br", first.body).decode() == STYLE
    assert all("content-encoding" not in each.headers for each in left)
    # Compressed as it is sent: the weaker tag is that of the file as it is now.
    assert second.headers["content-encoding"] == "zstd"
    assert decoded("zstd", second.body).decode() == changed
    assert second.headers["etag"].startswith('W/"')
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == [
        "a",
        "photo.png",
        "s.css",
        "site.css",
    ]


async def test_a_file_that_was_changed_after_the_build_is_what_it_is_now(tmp_path: Path) -> None:
    write_tree(tmp_path, {"public/site.css": STYLE})
    compress = tmp_path / "build/public/site.css.br"
    async with served(tmp_path):
        assert compress.is_file()
    (tmp_path / "public/site.css").write_text(STYLE.upper())
    config = load_config(tmp_path)
    manifest = compile_server(tmp_path, config, tmp_path / "build", mode="production")
    app = assemble(tmp_path, config, tmp_path / "build", manifest, open_renderer=open_no_render)
    async with app.router.lifespan_context(app):
        found = await Client(app).get("/site.css", headers={"accept-encoding": "br"})
    assert decoded("br", found.body).decode() == STYLE.upper()


async def test_a_link_that_leads_out_of_the_folder_is_not_a_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"secret.txt": STYLE, "public/site.css": STYLE})
    (tmp_path / "public/link.txt").symlink_to(tmp_path / "secret.txt")
    async with served(tmp_path) as client:
        assert (await client.get("/link.txt", headers=ALL)).status == 404
    assert not (tmp_path / "build/public/link.txt.br").exists()


async def test_source_maps_stay_here_in_every_form(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        for name in ("app-1.js.map", "app-1.js.map.br", "app-1.js.map.gz"):
            assert (await client.get(f"/_fx/{name}", headers=ALL)).status == 404


async def test_off_is_off_for_files(tmp_path: Path) -> None:
    async with served(tmp_path, compression="off") as client:
        found = await client.get("/_fx/app-1.js", headers=ALL)
    assert found.body.decode() == SCRIPT
    assert "vary" not in found.headers


def test_without_the_packages_there_is_gzip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"client/app-1.js": SCRIPT})
    monkeypatch.setattr(codings, "_brotli", lambda: None)
    monkeypatch.setattr(codings, "_zstd", lambda: None)
    available.cache_clear()
    smallest_first.cache_clear()
    try:
        compress_build(tmp_path, "client", tmp_path / "public", EncodingCache(tmp_path / "forms"))
    finally:
        available.cache_clear()
        smallest_first.cache_clear()
    assert sorted(path.name for path in (tmp_path / "client").iterdir()) == [
        "app-1.js",
        "app-1.js.gz",
    ]
