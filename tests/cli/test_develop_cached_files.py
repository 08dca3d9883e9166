"""Every file that `fx dev` keeps for its next start: whatever is in it, that start succeeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from PIL import Image

from fxtrio.compile.bundling.installation import LISTING, is_whole
from fxtrio.config import Config
from fxtrio.develop.build.node_answer import find_answer, store_answer
from fxtrio.develop.build.page_cache import PageFiles, find_stored
from fxtrio.develop.mcp import endpoint
from fxtrio.pictures.store import PictureStore
from fxtrio.tools.types.ui.virtual_project import TypesFolder
from tests.trees import write_tree

PLAN: dict[str, Any] = {"views": []}
ANSWER: dict[str, Any] = {
    "buildId": "development",
    "server": "",
    "entry": {"module": "/_fx/entry", "css": [], "preload": []},
    "files": {},
    "clients": [],
    "warnings": [],
}
NESTED = 100_000
CONTENTS = {
    "empty": b"",
    "zeros": bytes(64),
    "noise": bytes(range(256)),
    "no UTF-8": b'{"digest":"\xff","token":"\xff","url":"\xff","a":{"a":"\xff"}}',
    "no UTF-8, packed": b"\x81\xa7made_by\xa1\xff",
    "null": b"null",
    "number": b"1",
    "list": b"[1]",
    "object": b'{"other":1}',
    "other types": b'{"digest":1,"answer":1,"url":[],"token":{},"width":"a"}',
    "nested lists": b"[" * NESTED,
    "nested objects": b'{"a":' * NESTED,
    "nested, packed": b"\x81\xa1a" + b"\x91" * NESTED,
    "a length of gigabytes": b"\xdf\xff\xff\xff\xff",
    "a token that is none": b'{"url":"http://127.0.0.1/","token":""}',
    "half a character": b'{"url":"http://127.0.0.1/","token":"\\ud800"}',
}


URL = "http://127.0.0.1:8000/__fx/mcp"


@attrs.frozen
class CachedFile:
    """A file of a cache."""

    path: str
    write: Callable[[Path], object]
    read: Callable[[Path], object]
    """Returns what is cached; something false when nothing of it can be used."""


def write_pages(root: Path) -> None:
    write_tree(root, {"pages/index.fxl": "export default () => <h1>one</h1>;\n"})
    files = PageFiles(root)
    files.read_all_now(Config(), {})
    files.keep()


def write_listing(root: Path) -> None:
    (root / LISTING).write_text(json.dumps({"vite.js": 0}))
    (root / "vite.js").touch()


def own_types(root: Path) -> TypesFolder:
    return TypesFolder(root, root)


ANSWER_FILE = ".fx/dev/answer.json"
CACHED_FILES = [
    CachedFile(".fx/dev/checked.msgpack", write_pages, lambda root: find_stored(root, "pages")),
    CachedFile(
        ANSWER_FILE,
        lambda root: store_answer((root / ANSWER_FILE).parent, PLAN, ANSWER),
        lambda root: find_answer((root / ANSWER_FILE).parent, PLAN),
    ),
    CachedFile(endpoint.FILE, lambda root: endpoint.write_known(root, URL), endpoint.read_known),
    CachedFile(
        ".fx/types/own.json",
        lambda root: own_types(root).note_own({"pages/index.fxl": {"Card": "{}"}}),
        lambda root: own_types(root).own,
    ),
    CachedFile(LISTING, write_listing, is_whole),
]


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("cached", CACHED_FILES, ids=lambda cached: cached.path)
def test_damaged_entries_are_replaced_and_not_used(
    tmp_path: Path, cached: CachedFile, content: bytes
) -> None:
    cached.write(tmp_path)
    assert cached.read(tmp_path)
    (tmp_path / cached.path).write_bytes(content)

    assert not cached.read(tmp_path)
    cached.write(tmp_path)
    assert cached.read(tmp_path)


@pytest.mark.parametrize("cached", CACHED_FILES, ids=lambda cached: cached.path)
def test_half_a_file_is_not_used(tmp_path: Path, cached: CachedFile) -> None:
    cached.write(tmp_path)
    file = tmp_path / cached.path
    whole = file.read_bytes()
    for length in range(0, len(whole), 29):
        file.write_bytes(whole[:length])
        assert not cached.read(tmp_path), length


@pytest.mark.parametrize("cached", CACHED_FILES, ids=lambda cached: cached.path)
def test_entries_that_only_another_user_may_read_are_written_again(
    tmp_path: Path, cached: CachedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached.write(tmp_path)
    file, read_bytes = tmp_path / cached.path, Path.read_bytes
    others = file.stat().st_ino

    def read_as_another(path: Path) -> bytes:
        if path == file and path.stat().st_ino == others:
            raise PermissionError(13, "Permission denied", str(path))
        return read_bytes(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", read_as_another)
        assert not cached.read(tmp_path)
        if cached.path != LISTING:  # the toolchain is installed into another folder
            cached.write(tmp_path)
            assert cached.read(tmp_path)


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_damaged_digests_of_types_say_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / ".fx/types/typed.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)

    assert callable(own_types(tmp_path).typed())


def test_damaged_entries_of_pictures_are_encoded_again(tmp_path: Path) -> None:
    picture = tmp_path / "one.png"
    Image.new("RGB", (8, 8)).save(picture)
    store = PictureStore(tmp_path)
    found = store.find(picture, None)
    (entry,) = tmp_path.glob(".fx/pictures/*/picture.json")
    for name, content in CONTENTS.items():
        entry.write_bytes(content)
        assert store.find(picture, None) == found, name
