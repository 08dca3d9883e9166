"""The files of a form: many of them, large and small, and what they take of the process."""

from __future__ import annotations

import csv
import io
import tempfile
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import UploadFile

from fxtrio.errors import BodiesFull
from fxtrio.serve.request.bodies.forms import IN_MEMORY, MULTIPART, parse_form
from fxtrio.serve.request.bodies.spool import Bodies, Body

CONTENT_TYPE = f"{MULTIPART}; boundary=b"


def form_of(contents: list[bytes]) -> bytes:
    head = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    return b"".join(head + content + b"\r\n" for content in contents) + b"--b--"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[IO[bytes]]:
    """The files on the disk."""
    files: list[IO[bytes]] = []
    temporary = tempfile.TemporaryFile

    def watched(*args: Any, **settings: Any) -> IO[bytes]:
        files.append(temporary(*args, **settings))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    return files


def test_the_files_of_a_form_share_one_on_the_disk(opened: list[IO[bytes]]) -> None:
    contents = [bytes([number]) * (IN_MEMORY + number) for number in range(1, 60)]
    form = parse_form([form_of([b"small", *contents])], CONTENT_TYPE)
    uploads = [upload for _, upload in form.multi_items() if isinstance(upload, UploadFile)]
    assert [upload.file.read() for upload in uploads] == [b"small", *contents]
    assert [upload.size for upload in uploads] == [5, *map(len, contents)]
    assert len(opened) == 1
    for upload in uploads:
        assert not opened[0].closed
        upload.file.close()
    assert opened[0].closed


def test_a_form_that_is_rejected_leaves_no_file(opened: list[IO[bytes]]) -> None:
    whole = form_of([b"x" * (IN_MEMORY + 1)] * 3)
    for body in (whole[:-5], whole[: len(whole) // 2]):
        with pytest.raises(ValueError, match="last boundary"):
            parse_form([body], CONTENT_TYPE)
    assert [file.closed for file in opened] == [True] * 2


@given(
    sizes=st.lists(st.integers(0, 3 * IN_MEMORY), min_size=1, max_size=4),
    step=st.integers(1000, 200_000),
    reads=st.lists(st.tuples(st.integers(0, 3 * IN_MEMORY), st.integers(0, 5000)), max_size=5),
)
def test_files_are_what_was_sent_wherever_they_are_read(
    sizes: list[int], step: int, reads: list[tuple[int, int]]
) -> None:
    contents = [bytes(at % 251 for at in range(size)) for size in sizes]
    body = form_of(contents)
    chunks = [body[start : start + step] for start in range(0, len(body), step)]
    form = parse_form(chunks, CONTENT_TYPE)
    for (_, upload), content in zip(form.multi_items(), contents, strict=True):
        assert isinstance(upload, UploadFile)
        file, like = upload.file, io.BytesIO(content)
        for place, size in reads:
            assert file.seek(place) == like.seek(place)
            assert file.read(size) == like.read(size)
        assert file.seek(-min(7, len(content)), io.SEEK_END) == like.seek(-min(7, len(content)), 2)
        assert file.read() == like.read()
        file.close()


def test_what_reads_files_reads_those_of_forms() -> None:
    table = b"name,price\r\n" + b"tea,3\r\n" * 20_000
    (_, upload) = parse_form([form_of([table])], CONTENT_TYPE).multi_items()[0]
    assert isinstance(upload, UploadFile)
    with io.TextIOWrapper(upload.file) as text:
        assert sum(int(row["price"]) for row in csv.DictReader(text)) == 60_000


async def test_files_that_find_no_room_are_rejected_in_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    content = form_of([b"x" * (IN_MEMORY + 1)])

    def full(**_: object) -> object:
        raise OSError(24, "Too many open files")

    async def receive() -> Any:
        return {"type": "http.request", "body": content, "more_body": False}

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    body = Body(receive, {}, limit=len(content), bodies=Bodies(10 * len(content)))
    await body.read()
    with pytest.raises(BodiesFull):
        await body.form(CONTENT_TYPE)
    body.close()
    assert "Too many open files" in caplog.text
