"""Files in typed bodies, bodies with a limit of their own, and the token that nobody sees."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fx.runtime import Upload, action
from fx.testing import Client, open_app
from fxtrio.serve.pages.functions.server_functions import PageCodeInvalid
from fxtrio.sizes import size_text, to_bytes
from tests.trees import page, write_tree

PAGE = """
    from dataclasses import dataclass
    from typing import Annotated

    import attrs
    from pydantic import BaseModel

    from fx.runtime import Upload, UploadFile

    Avatar = Annotated[UploadFile, Upload(max_size="1KB", types=("image/*", "text/plain"))]

    @attrs.define
    class Profile:
        name: str
        avatar: Avatar
        photos: list[Avatar] = attrs.field(factory=list)
        cv: UploadFile | None = None
        letter: Annotated[UploadFile | None, Upload(max_size=5)] = None

    @dataclass
    class Data:
        name: str
        avatar: Avatar
        photos: Annotated[list[UploadFile], Upload(max_size="1KB")]
        cv: UploadFile | None
        letter: Annotated[UploadFile, Upload(max_size=5)] | None = None

    class Model(BaseModel):
        name: str
        avatar: Avatar
        photos: list[Avatar] = []
        cv: UploadFile | None
        letter: Annotated[UploadFile | None, Upload(max_size=5)] = None

    async def told(body):
        photos = [[file.filename, (await file.read()).decode()] for file in body.photos]
        return {
            "name": body.name,
            "avatar": [body.avatar.filename, body.avatar.content_type, body.avatar.size],
            "photos": photos,
            "cv": body.cv and (await body.cv.read()).decode(),
        }

    @action
    async def of_attrs(request, body: Profile):
        return await told(body)

    @action
    async def of_data(request, body: Data):
        return await told(body)

    @action
    async def of_model(request, body: Model):
        return await told(body)

    @action
    async def seen(request):
        form = await request.form()
        return {"json": await request.json(), "form": [list(item) for item in form.multi_items()]}

    @action(limit="2KiB")
    async def small(request):
        return {"size": len(await request.body())}

    @action(limit="20MB")
    async def large(request):
        form = await request.form()
        file = form["file"]
        request.app.state.files.append(file.file)
        return {"size": file.size, "end": (await file.read())[-4:].decode()}
    """
ENDPOINT = """
    async def post(request):
        return {"form": dict(await request.form())}
    """
KINDS = ["of_attrs", "of_data", "of_model"]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/api/form.py": ENDPOINT})
    async with open_app(tmp_path, mode="production") as opened:
        yield opened


def part(name: str, text: str, filename: str | None = None, kind: str = "text/plain") -> bytes:
    """Return a part of a multipart form as browsers write it."""
    head = f'--b\r\ncontent-disposition: form-data; name="{name}"'
    if filename is not None:
        head += f'; filename="{filename}"\r\ncontent-type: {kind}'
    return f"{head}\r\n\r\n{text}\r\n".encode()


UNCHOSEN: dict[str, str] = {"filename": "", "kind": "application/octet-stream"}


async def send(client: Client, name: str, *parts: bytes) -> Any:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    content = b"".join(parts) + b"--b--\r\n"
    return await client.post(f"/api/__actions/index/{name}", content=content, headers=headers)


@pytest.mark.parametrize("name", KINDS)
async def test_files_are_fields_of_a_typed_body(client: Client, name: str) -> None:
    response = await send(
        client,
        name,
        part("name", "Ada"),
        part("avatar", "abc", "a.png", "image/png"),
        part("photos", "one", "1.txt"),
        part("photos", "two", "2.txt"),
        part("cv", "born", "cv.pdf", "application/pdf"),
    )
    assert response.json() == {
        "ok": True,
        "name": "Ada",
        "avatar": ["a.png", "image/png", 3],
        "photos": [["1.txt", "one"], ["2.txt", "two"]],
        "cv": "born",
    }


@pytest.mark.parametrize("name", KINDS)
async def test_a_field_in_which_nothing_was_chosen_is_none_or_an_empty_list(
    client: Client, name: str
) -> None:
    parts = [part("photos", "", **UNCHOSEN), part("cv", "", **UNCHOSEN)]
    response = await send(client, name, part("name", "A"), part("avatar", "", "a.txt"), *parts)
    assert (response.json()["photos"], response.json()["cv"]) == ([], None)


@pytest.mark.parametrize("name", KINDS)
async def test_a_file_that_is_demanded_and_not_chosen_is_a_problem_of_its_field(
    client: Client, name: str
) -> None:
    parts = [part("photos", "", **UNCHOSEN), part("cv", "", **UNCHOSEN)]
    unchosen = await send(client, name, part("name", "A"), part("avatar", "", **UNCHOSEN), *parts)
    assert unchosen.status == 422
    assert unchosen.json()["fields"] == {"avatar": ["Field required"]}


@pytest.mark.parametrize("name", KINDS)
async def test_every_file_that_a_field_rejects_is_reported_by_its_path(
    client: Client, name: str
) -> None:
    response = await send(
        client,
        name,
        part("name", "", "name.txt"),
        part("avatar", "x", "a.exe", "application/x-msdownload"),
        part("photos", "fine", "1.txt"),
        part("photos", "x" * 1001, "2.txt"),
        part("cv", "text"),
        part("letter", "123456", "l.txt"),
    )
    assert response.status == 422
    fields = response.json()["fields"]
    assert fields["avatar"] == ["Expected a file of the type image/* or text/plain"]
    assert fields["cv"] == ["Expected a file"]
    assert fields["letter"] == ["The file is larger than 5 bytes"]
    photos = fields.get("photos.1") or fields["photos"]  # a demand of the list names the list
    assert photos == ["The file is larger than 1 KB"]
    assert len(fields["name"]) == 1


async def test_a_file_cannot_come_as_json(client: Client) -> None:
    for name in KINDS:
        body: dict[str, Any] = {"name": "A", "avatar": "abc", "photos": [], "cv": None}
        response = await client.post(f"/api/__actions/index/{name}", json=body)
        assert response.json()["fields"] == {"avatar": ["Expected a file"]}


@pytest.mark.parametrize("multipart", [True, False])
async def test_nobody_sees_the_token_of_the_form(client: Client, multipart: bool) -> None:
    if multipart:
        response = await send(client, "seen", part("_csrf_token", "x"), part("a", "1"))
    else:
        data = {"_csrf_token": "x", "a": "1"}
        response = await client.post("/api/__actions/index/seen", data=data)
        answer = await client.post("/api/form", data=data)
        assert answer.json() == {"form": {"a": "1"}}
    assert response.json() == {"ok": True, "json": {"a": "1"}, "form": [["a", "1"]]}


async def test_an_action_has_a_limit_of_its_own(client: Client) -> None:
    allowed = await client.post("/api/__actions/index/small", content=b"x" * 2048)
    rejected = await client.post("/api/__actions/index/small", content=b"x" * 2049)
    assert allowed.json()["size"] == 2048
    assert (rejected.status, rejected.json()["error"]) == (413, "The body is larger than 2 KiB.")


async def test_a_file_above_the_usual_limit_is_on_the_disk_until_the_request_has_ended(
    client: Client,
) -> None:
    files: list[Any] = []
    client.app.state.files = files
    size = 11 * 1024**2  # above limits.body
    response = await send(client, "large", part("file", "x" * (size - 3) + "end", "a.bin"))
    assert response.json() == {"ok": True, "size": size, "end": "xend"}
    [file] = files
    assert file.closed


@pytest.mark.parametrize("limit", ["50 apples", -1, "1.5MB", True, "MB"])
def test_a_limit_that_is_no_size_is_rejected(limit: Any) -> None:
    with pytest.raises(ValueError, match=r"^@action: 'limit' must be "):
        action(limit=limit)


async def test_a_limit_above_the_memory_of_all_bodies_is_rejected_when_the_app_starts(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    message = "large(): its limit of 20 MB is above limits.bodies (10 MiB), which all bodies share."
    with pytest.raises(PageCodeInvalid, match=re.escape(message)):
        async with open_app(tmp_path, limits={"bodies": "10MiB"}):
            pass


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ({"types": "png"}, "'png' is not a content type"),
        ({"types": ("image/*", "Image/PNG")}, "'Image/PNG' is not a content type"),
        ({"max_size": 0}, "must be above 0"),
        ({"max_size": "5 apples"}, "must be a number of bytes or text"),
    ],
)
def test_a_demand_that_no_file_can_meet_is_rejected(mistake: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Upload(**mistake)


@given(st.integers(0, 10**15))
def test_a_size_in_a_message_can_be_parsed_again(size: int) -> None:
    assert to_bytes(size_text(size).replace("bytes", "B")) == size


IMPOSSIBLE = """
    import socket
    from dataclasses import dataclass
    from typing import Any, Callable, Optional

    import attrs
    from pydantic import BaseModel, ConfigDict

    class Link:
        pass

    @attrs.define
    class Inner:
        link: Link
        again: Optional["Inner"] = None

    @attrs.define
    class Profile:
        name: str
        inner: list[Inner] | None
        one: Inner
        call: Callable[[], int]
        anything: Any = None
        fixed: Link = attrs.field(init=False, factory=Link)

    @dataclass
    class Data:
        link: Link | None = None

    class Model(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        name: str
        link: list[Link] = []

    @action
    async def save(request, body: {model}):
        return {{}}
    """


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("Profile", "Profile: 'inner.link' (Link), 'one.link' (Link)"),
        ("Profile", "'one.link' (Link)"),
        ("Profile", "'call' (Callable[[], int]) are of types that no body can have. Use str"),
        ("Data", "Data: 'link' (Link) is of a type that no body can have. Use str, int"),
        ("Model", "Model: 'link' (Link) is of a type that no body can have. Use str, int"),
    ],
)
async def test_a_field_that_no_body_can_have_is_reported_when_the_app_starts(
    tmp_path: Path, model: str, message: str
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(IMPOSSIBLE.format(model=model))})
    with pytest.raises(PageCodeInvalid, match=rf"index.fxl:\d+: save\(\).*{re.escape(message)}"):
        async with open_app(tmp_path):
            pass
