"""The contract over WebSockets, on every server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.contract.rules import rule
from tests.contract.sites import PATIENCE, SERVERS, Server, Site, build_probe, serve_probe

pytestmark = pytest.mark.node
ALONE = [server for server in SERVERS if server.workers == 1]
"""Channels reach the subscribers of one process, so one process serves here."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_probe(tmp_path_factory.mktemp("probe"), "")


@pytest.fixture(scope="module", params=ALONE, ids=lambda server: server.name)
def site(request: pytest.FixtureRequest, built: Path) -> Iterator[Site]:
    """The probe on one server after the other."""
    server: Server = request.param
    with serve_probe(built, server) as served:
        yield served


def closed_with(site: Site, path: str, **headers: str) -> int:
    """Return the code that the server closes a WebSocket with."""
    with site.socket(path, **headers) as socket, pytest.raises(ConnectionClosed) as closed:
        while True:
            socket.recv(PATIENCE)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def wait_for_members(site: Site, count: int) -> None:
    for _ in range(1_000):
        if site.get("/api/raw").json()["members"] == count:
            return
    raise AssertionError(f"there were never {count} members")


@rule("endpoints.websocket", "realtime.page")
def test_endpoints_websocket_is_served_at_the_path_of_the_page(site: Site) -> None:
    with site.socket("/") as socket:
        assert json.loads(socket.recv(PATIENCE)) == {"path": "/"}
    with pytest.raises(InvalidStatus) as rejected:
        site.socket("/docs/guide")
    assert rejected.value.response.status_code == 404


@rule("realtime.encoding", "events.1")
@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ("dict", '{"said":"dict"}'),
        ("list", '["list"]'),
        ("bytes", b"\x00\xff"),
        ("str", "str"),
    ],
)
def test_realtime_encoding_reaches_every_subscriber(
    site: Site, sent: str, heard: str | bytes
) -> None:
    with site.socket("/room") as one, site.socket("/room") as other:
        assert [one.recv(PATIENCE), other.recv(PATIENCE)] == ["joined", "joined"]
        one.send(sent)
        for socket in (one, other):
            message = socket.recv(PATIENCE)
            assert type(message) is type(heard)
            assert _plain(message) == _plain(heard)


def _plain(message: str | bytes) -> object:
    is_json = isinstance(message, str) and message[0] in "[{"
    return json.loads(message) if is_json else message


@rule("realtime.channel_subscribes")
def test_realtime_channel_subscribes_until_the_block_ends_however_it_ends(site: Site) -> None:
    wait_for_members(site, 0)
    with site.socket("/room") as stays:
        stays.recv(PATIENCE)
        with site.socket("/room") as leaves, site.socket("/room") as drops:
            leaves.recv(PATIENCE)
            drops.recv(PATIENCE)
            wait_for_members(site, 3)
            leaves.send("leave")
            wait_for_members(site, 2)
            drops.socket.close()  # without a word of the protocol
            wait_for_members(site, 1)
    wait_for_members(site, 0)


@rule("authentication.3b", "realtime.authenticate_free")
def test_authentication_3b_nobody_is_signed_in_without_the_plugin(site: Site) -> None:
    assert closed_with(site, "/room?members=1") == 4401


@rule("authentication.4", "realtime.origin", "realtime.origin_missing")
def test_authentication_4_the_origin_is_the_handlers_matter(site: Site) -> None:
    with site.socket("/room?strict=1") as socket:
        assert socket.recv(PATIENCE) == "joined"
    with site.socket("/room?strict=1", Origin="https://friend.example") as socket:
        assert socket.recv(PATIENCE) == "joined"
    with site.socket("/room", Origin="https://evil.example") as socket:
        assert socket.recv(PATIENCE) == "joined"
    assert closed_with(site, "/room?strict=1", Origin="https://evil.example") == 4403


@rule("realtime.page")
def test_realtime_page_says_how_its_handler_ended(site: Site) -> None:
    assert closed_with(site, "/") == 4000
    assert closed_with(site, "/room?fails=1") == 1011
