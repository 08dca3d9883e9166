"""What an application does not catch of a capacity that is exhausted: 503 with `Retry-After`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from fx.tasks import TaskQueueFull
from fx.testing import Client, open_app
from fxtrio.errors import Busy
from tests.trees import page, write_tree

FORM = {"accept": "text/html", "content-type": "application/x-www-form-urlencoded"}
FULL = """
    from fx.tasks import TaskQueueFull

    @server
    async def load(request):
        raise TaskQueueFull("send", 1)

    @action
    async def save(request):
        raise TaskQueueFull("send", 1)

    @action
    async def stream(request):
        raise TaskQueueFull("send", 1)
        yield 1

    @action
    async def grouped(request):
        raise ExceptionGroup("a nursery", [TaskQueueFull("send", 1)])

    def to_markdown(ctx):
        raise TaskQueueFull("send", 1)
    """
API = """
    from fx.tasks import TaskQueueFull

    async def get(request):
        raise TaskQueueFull("send", 1)
    """
RESTING = """
    from fxtrio.errors import Busy

    class Resting(Busy):
        retry_after = 6.2

    @server
    async def load(request):
        raise Resting

    @action
    async def save(request):
        raise Resting

    def to_markdown(ctx):
        raise Resting
    """
SHARED = """
    from fx.runtime import action
    from fxtrio.errors import Busy

    class Resting(Busy):
        retry_after = 6.2

    @action
    async def save(request):
        raise Resting
    """
LATER = """
    from fx.tasks import TaskQueueFull

    @action
    async def stream(request):
        yield 1
        raise TaskQueueFull("send", 1)
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    files = {
        "pages/full.fxl": page(FULL),
        "pages/resting.fxl": page(RESTING),
        "actions/shared.py": SHARED,
        "pages/later.fxl": page(LATER),
        "pages/api/full.py": API,
        "pages/index.fxl": page(""),
    }
    async with open_app(write_tree(tmp_path, files), llms={"enabled": True}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "url", "headers"),
    [
        ("GET", "/full", {}),
        ("HEAD", "/full", {}),
        ("GET", "/full", {"x-fx-navigation": "1"}),
        ("GET", "/full.md", {}),
        ("GET", "/api/full", {}),
        ("POST", "/api/__actions/full/save", {}),
        ("POST", "/api/__actions/full/stream", {}),
        ("POST", "/api/__actions/full/grouped", {}),
        ("POST", "/api/__actions/full/save", FORM),
        ("POST", "/api/__actions/full/stream", FORM),
    ],
)
async def test_a_full_queue_asks_the_client_to_try_again(
    client: Client, method: str, url: str, headers: dict[str, str]
) -> None:
    response = await client.request(method, url, headers=headers)
    assert (response.status, response.headers.get("retry-after")) == (503, "1")


@pytest.mark.parametrize(
    ("method", "url", "headers"),
    [
        ("GET", "/resting", {}),
        ("GET", "/resting", {"x-fx-navigation": "1"}),
        ("GET", "/resting.md", {}),
        ("POST", "/api/__actions/resting/save", {}),
        ("POST", "/api/__actions/resting/save", FORM),
        ("POST", "/api/__actions/shared.save", {}),
        ("POST", "/api/__actions/shared.save", {**FORM, "referer": "http://testserver/nowhere"}),
    ],
)
async def test_the_client_learns_when_that_makes_sense(
    client: Client, method: str, url: str, headers: dict[str, str]
) -> None:
    response = await client.request(method, url, headers=headers)
    assert (response.status, response.headers.getlist("retry-after")) == (503, ["7"])


async def test_behind_the_first_value_it_is_in_the_end_of_the_stream(client: Client) -> None:
    result = await client.action("/later", "stream")
    assert (result.values, result.ok, result.error) == ([1], False, TaskQueueFull.message)


def subclasses(base: type[Busy]) -> Iterator[type[Busy]]:
    for one in base.__subclasses__():
        yield one
        yield from subclasses(one)


def test_each_says_when_to_try_again() -> None:
    for error in subclasses(Busy):
        assert error.retry_after > 0, error
        assert inspect.getdoc(error), error
