"""The manifest file: what is written is what is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from fxtrio.manifest import (
    FILE_NAME,
    VERSION,
    Assets,
    Manifest,
    ManifestUnreadable,
    PageModule,
    PageRoute,
    View,
    dump_manifest,
    load_manifest,
)

MANIFEST = Manifest(
    build_id="abc",
    mode="production",
    base_url="/app",
    modules={
        "pages/index.fxl": PageModule(
            source="pages/index.fxl",
            code="server/pages/index.fxl.py",
            inject=("server", "LoaderError"),
            loader="load",
            head=(["title", {}, "T"], ["meta", {"name": "a"}, ""]),
            revalidate=1.5,
        )
    },
    views=(View(id=0, kind="page", module="pages/index.fxl", client={"css": ["/a.css"]}),),
    routes=(PageRoute(pattern="/", view=0),),
    not_found={"/": 0},
    assets=Assets(entry="/_fx/e.js"),
)


@pytest.mark.parametrize("compact", [False, True])
def test_a_written_manifest_reads_back_equal(tmp_path: Path, compact: bool) -> None:
    (tmp_path / FILE_NAME).write_bytes(dump_manifest(MANIFEST, compact=compact))
    assert load_manifest(tmp_path) == MANIFEST


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("text", ["größe \U0001f600", "\ud800", 'a"\\/\n\x00\x7f'])
def test_every_text_reads_back_equal(tmp_path: Path, text: str, compact: bool) -> None:
    manifest = replace(MANIFEST, build_id=text)

    (tmp_path / FILE_NAME).write_bytes(dump_manifest(manifest, compact=compact))

    assert load_manifest(tmp_path) == manifest


@pytest.mark.parametrize("seconds", [1e300, 0.1])
def test_every_number_reads_back_equal(tmp_path: Path, seconds: float) -> None:
    page = replace(MANIFEST.modules["pages/index.fxl"], revalidate=seconds)
    manifest = replace(MANIFEST, modules={page.source: page})

    (tmp_path / FILE_NAME).write_bytes(dump_manifest(manifest))

    assert load_manifest(tmp_path) == manifest


def test_the_version_is_always_written() -> None:
    assert json.loads(dump_manifest(MANIFEST))["version"] == VERSION


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (None, "there is no build"),
        (b"{", "not JSON"),
        (b"[]", "another version"),
        (b'{"build_id": "a"}', "another version"),
        (b'{"build_id": "a", "mode": "production"}', "another version"),
        (b'{"version": 1}', "another version"),
        (b'{"version": 2}', "missing required field `build_id`"),
    ],
)
def test_a_file_that_is_no_manifest_is_rejected(
    tmp_path: Path, content: bytes | None, cause: str
) -> None:
    if content is not None:
        (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(ManifestUnreadable, match=cause):
        load_manifest(tmp_path)
