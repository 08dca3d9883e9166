"""Large pages while too many bytes wait for clients that do not read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import open_app
from fxtrio.send_budget import WAIT, UnsentFull, process_unsent
from fxtrio.serve.pages.html.large import IN_HAND, LargePages
from tests.trees import write_tree

PAGE = """\
@server
async def load(request):
    return {"text": "*" * int(request.query_params["size"])}

export default function Page({ data }) {
  return <p>{data.text}</p>;
}
"""


async def test_a_large_page_is_not_rendered_while_the_budget_is_full(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    async with open_app(tmp_path) as client:
        assert (await client.get("/?size=100000")).status == 200
        assert process_unsent.used == 0
        with process_unsent.reserving(process_unsent.capacity + 1):
            rejected = await client.get("/?size=100001")
            assert (rejected.status, "retry-after" in rejected.headers) == (503, True)
            assert (await client.get("/?size=1000")).status == 200
        assert (await client.get("/?size=100001")).status == 200


STREAMED = """\
@server
async def load(request):
    return {"text": "*" * int(request.query_params["size"])}

export default function Page({ data }) {
  return <p>{data.text}</p>;
}
"""


async def test_a_large_streamed_page_is_not_sent_while_the_budget_is_full(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    loading = "export default function Loading() {\n  return <p>soon</p>;\n}\n"
    write_tree(tmp_path, {"pages/index.fxl": STREAMED, "pages/loading.fxl": loading})
    async with open_app(tmp_path) as client:
        with process_unsent.reserving(process_unsent.capacity + 1):
            assert (await client.get("/?size=100001")).status == 503
            assert (await client.get("/?size=1000")).status == 200
        assert (await client.get("/?size=100001")).status == 200
        assert process_unsent.used == 0


COUNTED = """\
begun = 0

@server
async def load(request):
    global begun
    begun += 1
    return {"text": "*" * 300_000, "begun": begun}

export default function Page({ data }) {
  return <p>{data.text}</p>;
}
"""


async def test_no_loader_of_a_view_with_large_pages_runs_before_there_is_room(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": COUNTED})
    async with open_app(tmp_path) as client:
        assert '"begun":1' in (await client.get("/")).text
        with process_unsent.reserving(process_unsent.capacity + 1):
            assert (await client.get("/")).status == 503
        assert '"begun":2' in (await client.get("/")).text
        assert process_unsent.used == 0


@pytest.mark.parametrize("room", [True, False])
async def test_few_large_pages_wait_for_room_with_their_data_in_hand(
    room: bool, autojump_clock: MockClock
) -> None:
    large, rendered = LargePages(), []

    async def make(size: int) -> None:
        with suppress(UnsentFull):
            async with large.rendering(bytes(size), "page", footprint=1):
                rendered.append((size, trio.current_time()))

    with process_unsent.reserving(process_unsent.capacity + 1):
        async with trio.open_nursery() as nursery:
            for size in (IN_HAND - 1000, 900, 200):
                nursery.start_soon(make, size)
                await wait_all_tasks_blocked()
            await trio.sleep(3)
            if room:
                process_unsent.remove(1)
                await trio.sleep(1)
                process_unsent.add(1)
    assert sorted(rendered) == ([(900, 3), (IN_HAND - 1000, 3)] if room else [])
    assert trio.current_time() == (4 if room else WAIT)
    async with large.rendering(bytes(IN_HAND), "page", footprint=1):
        assert process_unsent.used == 1


def test_the_average_of_a_view_follows_its_pages() -> None:
    large = LargePages()
    for _ in range(3):
        large.note(7, 1000)
    assert large.average == {}
    large.note(7, 800_000)
    large.note(7, 0)
    assert large.average == {7: 700_000}
    for _ in range(100):
        large.note(7, 1000)
    assert large.average == {}
