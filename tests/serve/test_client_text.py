"""Text and bodies as clients send them: other charsets, broken forms, cookies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fx.testing import Client, open_app
from fxtrio.errors import BadBody, CharsetUnsupported
from fxtrio.serve.request.bodies.forms import MULTIPART, URLENCODED, form_values, parse_form
from fxtrio.serve.request.requests import parse_cookies
from tests.trees import page, write_tree

PAGE = """
    @server
    async def load(request):
        return {"cookies": request.cookies}

    async def websocket(ws):
        await ws.accept()
        await ws.send_json(ws.cookies)

    @action
    async def form(request):
        return {"form": {name: str(value) for name, value in (await request.form()).items()}}

    @action
    async def values(request):
        return {"values": await request.json()}
    """
ENDPOINT = """
    async def post(request):
        return {"form": {name: str(value) for name, value in (await request.form()).items()}}

    async def put(request):
        return {"json": await request.json()}

    async def patch(request):
        return {"text": (await request.body()).decode("latin-1")}

    async def get(request):
        return request.cookies
    """
FORMS = ["/api/__actions/index/form", "/api/read"]
MULTIPART_TYPE = f"{MULTIPART}; boundary=b"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/api/read.py": ENDPOINT})
    async with open_app(tmp_path) as opened:
        yield opened


def part(head: bytes, data: bytes = b"v") -> bytes:
    return b"--b\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + data + b"\r\n"


def multipart(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


@pytest.mark.parametrize("url", FORMS)
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (f"{MULTIPART_TYPE}; charset=punycode", multipart(part(b'name="a"', b"a" * 100_000))),
        (f"{MULTIPART_TYPE}; charset=utf-7", multipart(part(b'name="a"', b"+2AA-"))),
        (f'{MULTIPART_TYPE}; Charset="idna"', multipart(part(b'name="a"'))),
        (f"{MULTIPART_TYPE}; charset=utf-16-le", multipart(part(b'name="a"'))),
        (f"{MULTIPART_TYPE}; charset=no-such", multipart(part(b'name="a"'))),
        (f"{URLENCODED}; charset=iso-8859-1", b"a=%E4"),
        (
            MULTIPART_TYPE,
            multipart(part(b'name="a"\r\nContent-Type: text/plain; charset=utf-7', b"+2AA-")),
        ),
        (MULTIPART_TYPE, multipart(part(b'name="_charset_"', b"utf-7"), part(b'name="a"'))),
        (URLENCODED, b"_charset_=windows-1252&a=%E4"),
    ],
)
async def test_a_form_in_another_charset_than_utf_8_is_a_415(
    client: Client, url: str, content_type: str, body: bytes
) -> None:
    response = await client.post(url, content=body, headers={"content-type": content_type})
    assert response.status == 415
    assert "Send UTF-8" in response.json()["error"]


@pytest.mark.parametrize(
    ("method", "url"), [("POST", "/api/__actions/index/values"), ("PUT", "/api/read")]
)
async def test_json_in_another_charset_than_utf_8_is_a_415(
    client: Client, method: str, url: str
) -> None:
    headers = {"content-type": "application/json; charset=utf-7"}
    response = await client.request(method, url, content=b'"+2AA-"', headers=headers)
    assert response.status == 415


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", '"utf_8"', "us-ascii"])
async def test_utf_8_by_any_of_its_names_is_read(client: Client, charset: str) -> None:
    headers = {"content-type": f"{MULTIPART_TYPE}; charset={charset}"}
    body = multipart(part(b'name="_charset_"', b"UTF-8"), part(b'name="a"', "ä".encode()))
    response = await client.post(FORMS[0], content=body, headers=headers)
    assert response.json()["form"]["a"] == "ä"


@pytest.mark.parametrize("url", FORMS)
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (URLENCODED, b"a=%ED%A0%80"),
        (URLENCODED, b"a=\xed\xa0\x80"),
        (MULTIPART_TYPE, multipart(part(b'name="a"', b"\xed\xa0\x80"))),
        (URLENCODED, b"a=%FF"),
        (MULTIPART_TYPE, multipart(part(b'name="a"', b"\xff"))),
    ],
)
async def test_bytes_that_are_not_utf_8_in_a_form_become_replacement_characters(
    client: Client, url: str, content_type: str, body: bytes
) -> None:
    response = await client.post(url, content=body, headers={"content-type": content_type})
    assert response.status == 200
    assert set(response.json()["form"]["a"]) == {"\ufffd"}


@pytest.mark.parametrize("url", FORMS)
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (MULTIPART, b"--b--"),
        (f"{MULTIPART}; boundary={'b' * 300}", b"--b--"),
        (MULTIPART_TYPE, b"no boundary at all"),
        (MULTIPART_TYPE, part(b'name="a"')),
        (MULTIPART_TYPE, part(b'name="a"')[:-4]),
        (MULTIPART_TYPE, b"--b\r\n"),
        (MULTIPART_TYPE, multipart(part(b"", b"v"))),
        (MULTIPART_TYPE, multipart(b"--b\r\n\r\nv\r\n")),
        (MULTIPART_TYPE, multipart(b"--b\r\nno colon\r\n\r\nv\r\n")),
        (MULTIPART_TYPE, multipart(part(b'name="a"' + b";;" * 2000))),
        (URLENCODED, b"&" * 5000),
        (f"{URLENCODED}; {'x' * 5000}", b"a=1"),
    ],
)
async def test_a_malformed_form_is_a_400(
    client: Client, url: str, content_type: str, body: bytes
) -> None:
    response = await client.post(url, content=body, headers={"content-type": content_type})
    assert response.status == 400
    assert response.json()["ok"] is False


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 100_000, b"NaN"])
async def test_malformed_json_in_an_endpoint_is_a_400(client: Client, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = await client.request("PUT", "/api/read", content=body, headers=headers)
    assert (response.status, response.json()["ok"]) == (400, False)


async def test_an_endpoint_reads_bytes_of_any_charset(client: Client) -> None:
    headers = {"content-type": "text/plain; charset=iso-8859-1"}
    response = await client.request("PATCH", "/api/read", content=b"\xe4", headers=headers)
    assert response.json() == {"text": "ä"}


def test_files_keep_their_bytes_and_their_names_are_text() -> None:
    head = b'name="cv"; filename="\xff\xe4.csv"\r\nContent-Type: text/csv; charset=latin-1'
    form = parse_form([multipart(part(head, b"\xe4" * 200_000))], MULTIPART_TYPE)
    file = form["cv"]
    assert not isinstance(file, str)
    assert (file.filename, file.size) == ("\ufffd\ufffd.csv", 200_000)
    assert file.file.read() == b"\xe4" * 200_000
    file.file.close()


@given(st.binary(max_size=300), st.sampled_from([URLENCODED, MULTIPART_TYPE]))
def test_any_form_is_text_that_can_be_sent_or_rejected(body: bytes, content_type: str) -> None:
    try:
        values = form_values(parse_form([body[:50], body[50:]], content_type))
    except (BadBody, CharsetUnsupported):
        return
    assert str(values).encode()


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_what_browsers_write_is_read(fields: list[tuple[str, str]]) -> None:
    from urllib.parse import urlencode

    written = [(name, value) for name, value in fields if name != "_charset_"]
    form = parse_form([urlencode(written, encoding="utf-8", errors="replace").encode()], URLENCODED)
    expected = [(_sent(name), _sent(value)) for name, value in written]
    assert form.multi_items() == expected


def _sent(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@given(st.text(alphabet='ab=;" \\\\0123', max_size=40))
def test_cookies_are_those_that_starlette_reads(header: str) -> None:
    from starlette.requests import cookie_parser

    assert parse_cookies([header]) == cookie_parser(header)


@given(st.text(max_size=20).filter(lambda text: text.isprintable()))
def test_a_cookie_that_python_wrote_is_read(value: str) -> None:
    cookie: SimpleCookie = SimpleCookie()
    cookie["a"] = value
    header = cookie.output(header="", attrs=[]).strip()
    latin = all(ord(char) < 256 for char in value)
    assert not latin or parse_cookies([header]) == {"a": value}


async def test_cookies_of_pages_and_endpoints_are_parsed_in_linear_time(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(value: str) -> str:
        raise AssertionError("this parser is quadratic")

    monkeypatch.setattr("http.cookies._unquote", never)
    headers = {"cookie": 'a="' + "\\" * 30_000 + '"; b="\\054\\""'}
    assert (await client.get("/api/read", headers=headers)).json()["b"] == ',"'
    loaded = await client.load_page("/", headers=headers)
    assert loaded.data["cookies"]["b"] == ',"'
    client.cookies.clear()  # they would go first
    async with client.websocket("/", headers=headers) as socket:
        assert (await socket.receive_json())["b"] == ',"'


async def test_queries_and_paths_are_valid_text(tmp_path: Path) -> None:
    code = """
    @server
    async def load(request):
        texts = [*request.path_params.values(), *request.query_params.values(), request.url.path]
        return {"valid": [text.encode().decode() == text for text in texts]}
    """
    write_tree(tmp_path, {"pages/[name].fxl": page(code)})
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/%ED%A0%80?q=%ED%A0%80&r=%FF")
        assert loaded.data["valid"] == [True] * 4
