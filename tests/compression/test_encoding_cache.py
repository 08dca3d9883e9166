"""What builds share of their compressed files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxtrio.compression import encoding_cache
from fxtrio.compression.accept_encoding import Coding
from fxtrio.compression.codings import encode_whole, smallest_first
from fxtrio.compression.encoding_cache import MOST, SMALLEST, EncodingCache
from tests.compression.decode import decoded

LARGE = os.urandom(SMALLEST // 4).hex().encode() * 2


@pytest.fixture
def compressed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was compressed, and not read from the cache."""
    data_of_each: list[bytes] = []

    def encode(coding: Coding, data: bytes, *, best: bool) -> bytes:
        data_of_each.append(data)
        return encode_whole(coding, data, best=best)

    monkeypatch.setattr(encoding_cache, "encode_whole", encode)
    return data_of_each


def test_a_large_file_is_compressed_once_in_each_coding(
    tmp_path: Path, compressed: list[bytes]
) -> None:
    for _ in range(2):
        for coding in smallest_first():
            encoding = EncodingCache(tmp_path / "encodings").encode(coding, LARGE)
            assert decoded(coding, encoding) == LARGE

    assert compressed == [LARGE] * len(smallest_first())


def test_a_small_file_leaves_nothing(tmp_path: Path, compressed: list[bytes]) -> None:
    for _ in range(2):
        EncodingCache(tmp_path).encode("gzip", LARGE[: SMALLEST - 1])

    assert len(compressed) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damaged", ["", "short", "other"])
def test_a_damaged_representation_is_rebuilt(
    tmp_path: Path, compressed: list[bytes], damaged: str
) -> None:
    cache = EncodingCache(tmp_path)
    encoding = cache.encode("gzip", LARGE)
    [entry] = tmp_path.iterdir()
    content = entry.read_bytes()
    entry.write_bytes({"": b"", "short": content[:-1], "other": content[:-1] + b"!"}[damaged])

    assert cache.encode("gzip", LARGE) == encoding
    assert entry.read_bytes() == content
    assert len(compressed) == 2


def test_a_folder_that_cannot_be_written_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    encoding = EncodingCache(tmp_path / "file" / "encodings").encode("gzip", LARGE)

    assert decoded("gzip", encoding) == LARGE


def test_the_forms_that_were_used_last_stay(tmp_path: Path, compressed: list[bytes]) -> None:
    cache = EncodingCache(tmp_path)
    cache.encode("gzip", LARGE)
    [first] = tmp_path.iterdir()
    for number in range(MOST):
        (tmp_path / f"{number}").touch()
        os.utime(tmp_path / f"{number}", (number, number))
    cache.encode("gzip", LARGE + b"!")

    left = {path.name for path in tmp_path.iterdir()}
    assert len(left) == MOST
    assert first.name in left
    assert not {"0", "1"} & left
