"""What holds for every request: ids, headers, probes, methods, slashes, base URL, files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from fxtrio.app import assemble
from fxtrio.application import TrioMissing
from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.serve.request.requests import BodilessRequest, PageRequest
from fxtrio.serve.static_files import Folder
from tests.trees import PAGE, page, write_tree

FILES = {
    "pages/index.fxl": page(""),
    "pages/blog/[id].fxl": page(""),
    "pages/not-found.fxl": page(""),
    "public/robots.txt": "User-agent: *\n",
    "public/deep/a b.txt": "0123456789",
    "secret.txt": "secret",
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, FILES)
    async with open_app(tmp_path, mode="production") as opened:
        yield opened


@pytest.mark.parametrize("url", ["/", "/nowhere", "/robots.txt", "/healthz", "/api/none"])
async def test_every_response_has_a_request_id_and_the_security_headers(
    client: Client, url: str
) -> None:
    headers = (await client.get(url)).headers
    assert len(headers["x-request-id"]) == 32
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["referrer-policy"] == "strict-origin-when-cross-origin"


async def test_request_ids_differ_and_an_incoming_one_is_not_trusted(client: Client) -> None:
    mine = {"x-request-id": "mine"}
    ids = {(await client.get("/", headers=mine)).headers["x-request-id"] for _ in range(300)}
    assert len(ids) == 300
    assert "mine" not in ids


@pytest.mark.parametrize(
    ("incoming", "used"), [("mine-1.2_3", True), ("a" * 129, False), ("a b", False), ("a,b", False)]
)
async def test_an_incoming_id_is_used_where_it_is_trusted_and_well_formed(
    tmp_path: Path, incoming: str, used: bool
) -> None:
    write_tree(tmp_path, FILES)
    trusting = {"trust_incoming_request_id": True}
    async with open_app(tmp_path, observability=trusting) as client:
        response = await client.get("/", headers={"x-request-id": incoming})
    assert (response.headers["x-request-id"] == incoming) is used


async def test_without_observability_there_is_no_id(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"has": hasattr(request.state, "request_id")}
                """
            )
        },
    )
    async with open_app(tmp_path, observability={"enabled": False}) as client:
        assert "x-request-id" not in (await client.get("/")).headers
        assert (await client.load_page("/")).data == {"has": False}


async def test_the_policy_has_a_fresh_nonce_and_its_placeholder_never_leaves(
    client: Client,
) -> None:
    first, second = await client.get("/"), await client.get("/")
    policies = [r.headers["content-security-policy-report-only"] for r in (first, second)]
    nonces = [policy.partition("'nonce-")[2].partition("'")[0] for policy in policies]
    assert nonces[0] != nonces[1]
    assert nonces[0] in first.text
    placeholder = client.app.site.nonce.decode()
    navigation = await client.get("/", headers={"x-fx-navigation": "1"})
    for response in (first, second, navigation):
        assert placeholder not in response.text


@pytest.mark.parametrize(
    ("csp", "header"),
    [
        ("report-only", "content-security-policy-report-only"),
        ("enforce", "content-security-policy"),
        ("off", None),
    ],
)
async def test_the_policy_is_reported_enforced_or_off(
    tmp_path: Path, csp: str, header: str | None
) -> None:
    write_tree(tmp_path, FILES)
    async with open_app(tmp_path, csp=csp) as client:
        headers = (await client.get("/")).headers
    found = [name for name in headers if name.startswith("content-security-policy")]
    assert found == ([header] if header else [])


async def test_probes_say_whether_the_app_lives_and_is_ready(client: Client) -> None:
    assert (await client.get("/healthz")).status == 200
    assert (await client.get("/readyz")).status == 200
    client.app.begin_shutdown()
    assert (await client.get("/healthz")).status == 200
    assert (await client.get("/readyz")).status == 503


async def test_pages_answer_get_and_head(client: Client) -> None:
    whole, head = await client.get("/"), await client.request("HEAD", "/")
    assert (head.status, head.body) == (200, b"")
    assert abs(int(head.headers["content-length"]) - len(whole.body)) < 8
    rejected = await client.request("PUT", "/")
    assert (rejected.status, rejected.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (await client.request("OPTIONS", "/")).status == 204
    whole = await client.request("OPTIONS", "*")
    assert (whole.status, whole.headers["allow"]) == (204, "GET, HEAD, POST, OPTIONS")


async def test_a_slash_at_the_end_redirects_to_the_canonical_path(client: Client) -> None:
    response = await client.get("/blog/%C3%A9%20x/?a=1")
    assert (response.status, response.headers["location"]) == (308, "/blog/%C3%A9%20x?a=1")


@pytest.mark.parametrize("url", ["//evil.example/", "//evil.example//", "/\\evil.example/"])
async def test_no_path_redirects_to_another_host(client: Client, url: str) -> None:
    response = await client.get(url)
    assert response.status in (404, 308)
    location = response.headers.get("location", "/")
    assert location.startswith("/") and not location.startswith("//")


async def test_the_base_url_is_before_everything(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            **FILES,
            "pages/index.fxl": page(
                """
                @action
                async def ping(request):
                    return {"pong": True}
                """
            ),
        },
    )
    async with open_app(tmp_path, base_url="/app") as client:
        for url in ("/app", "/app/", "/app/blog/1", "/app/robots.txt", "/app/api/__csrf"):
            assert (await client.get(url)).status == 200, url
        for url in ("/", "/blog/1", "/robots.txt", "/application", "/apprentice/blog/1"):
            assert (await client.get(url)).status == 404, url
        assert (await client.action("/", "ping")).data == {"pong": True}
        moved = await client.get("/app/blog/1/")
        assert moved.headers["location"] == "/app/blog/1"


async def test_a_range_of_very_many_parts_is_ignored(client: Client) -> None:
    few = await client.get("/deep/a%20b.txt", headers={"range": "bytes=0-1,4-5"})
    many = ",".join(f"{at}-{at}" for at in range(0, 100, 2))
    whole = await client.get("/deep/a%20b.txt", headers={"range": f"bytes={many}"})
    assert (few.status, whole.status, len(whole.body)) == (206, 200, 10)


async def test_public_files_have_an_etag_and_ranges(client: Client) -> None:
    whole = await client.get("/deep/a%20b.txt")
    again = await client.get("/deep/a%20b.txt", headers={"if-none-match": whole.headers["etag"]})
    part = await client.get("/deep/a%20b.txt", headers={"range": "bytes=2-4"})
    beyond = await client.get("/deep/a%20b.txt", headers={"range": "bytes=90-"})
    assert (whole.status, whole.text) == (200, "0123456789")
    assert (again.status, again.body) == (304, b"")
    assert (part.status, part.text) == (206, "234")
    assert part.headers["content-range"] == "bytes 2-4/10"
    assert beyond.status == 416


@pytest.mark.parametrize(
    "url",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/deep/../../secret.txt",
        "/..%2fsecret.txt",
        "/_fx/../../secret.txt",
        "/_fx/..%2f..%2fsecret.txt",
        "/_fx//etc/passwd",
        "/deep/%00.txt",
        "/_fx/%00",
    ],
)
async def test_no_file_outside_of_the_public_folders_is_served(client: Client, url: str) -> None:
    response = await client.get(url)
    assert response.status == 404
    assert "secret" not in response.text.replace("secret.txt", "")


@pytest.mark.parametrize("mode", ["development", "production"])
async def test_hidden_files_of_public_are_served_below_well_known_alone(
    tmp_path: Path, mode: Any
) -> None:
    hidden = (".env", ".git/config", "a/.htpasswd", ".hidden/x.txt", ".well-known/.x")
    served = (".well-known/security.txt", "a/b.c.txt", "..x.txt")
    names = [f"public/{name}" for name in (*hidden, *served)]
    write_tree(tmp_path, {**FILES, **dict.fromkeys(names, "text")})
    async with open_app(tmp_path, mode=mode, secret_keys=("k" * 32,)) as client:
        found = {name: (await client.get(f"/{name}")).status for name in (*hidden, *served[:2])}
        found |= {f"/{name}": (await client.get(f"/%2e{name[1:]}")).status for name in hidden[:2]}
    assert {name for name, status in found.items() if status == 200} == set(served[:2])


async def test_development_serves_files_that_appear_later(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    async with open_app(tmp_path) as client:
        assert (await client.get("/new.txt")).status == 404
        write_tree(tmp_path, {"public/new.txt": "new"})
        assert (await client.get("/new.txt")).text == "new"


async def test_a_missing_image_does_not_cost_a_render(client: Client) -> None:
    response = await client.get("/logo.png", headers={"sec-fetch-dest": "image"})
    assert response.status == 404
    assert "__fx_data" not in response.text
    document = await client.get("/logo", headers={"sec-fetch-dest": "document"})
    assert "__fx_data" in document.text


async def test_html_varies_by_the_navigation_header_and_payloads_are_not_stored(
    client: Client,
) -> None:
    document = await client.get("/")
    payload = await client.get("/", headers={"x-fx-navigation": "1"})
    assert document.headers["vary"] == payload.headers["vary"] == "x-fx-navigation, accept-encoding"
    assert document.headers["cache-control"] == "private, no-cache"
    assert payload.headers["cache-control"] == "no-store"


def test_source_maps_of_a_build_are_for_development(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.js": "", "a.js.map": "{}"})
    production = Folder(tmp_path, immutable=True, listed=True, compressed={})
    development = Folder(tmp_path, immutable=True, listed=False, compressed={})
    assert production.may_have("/a.js")
    assert not production.may_have("/a.js.map")
    assert development.may_have("/a.js.map")


def test_a_server_on_another_event_loop_is_rejected(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    config = load_config(tmp_path)
    manifest = compile_server(tmp_path, config, tmp_path / "build", mode="development")

    def open_renderer() -> Any:
        raise AssertionError("nothing is opened")

    app = assemble(tmp_path, config, tmp_path / "build", manifest, open_renderer=open_renderer)

    async def start() -> None:
        async with app.router.lifespan_context(app):
            raise AssertionError("it ran")

    with pytest.raises(TrioMissing, match="--worker-class trio"):
        start().send(None)


async def test_what_a_test_raises_leaves_its_app_as_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    with pytest.raises(ZeroDivisionError):
        async with open_app(tmp_path):
            raise ZeroDivisionError


async def test_a_built_in_error_page_leads_to_the_home_page(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    async with open_app(tmp_path, base_url="/shop") as client:
        text = (await client.get("/shop/nowhere")).text

    assert '<a href="/shop/">Go to the home page</a>' in text
    assert "Quote this id" not in text  # nobody reports that a page does not exist


def test_the_request_of_a_page_has_all_that_starlette_sets() -> None:
    scope = {"type": "http"}
    request = BodilessRequest(scope)
    for name, value in vars(PageRequest(scope, request.receive)).items():
        assert getattr(request, name) is value, name
