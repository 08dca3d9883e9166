"""The short form of the attack, and proof that it finds what it looks for."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
import trio

from ..http1.support import Client, Reply
from ..short import amount
from .attack import Attack, replay
from .cases import Case, Message
from .findings import Finding
from .surfaces import make_cases
from .target import build, open_target

PATIENCE = 240.0
CASES = amount(150, long=1000)
SEED = 8


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("attacked"))


async def test_nothing_that_is_sent_harms_the_app(app: Path, tmp_path: Path) -> None:
    attack = Attack(app, lambda found: print(found.report(tmp_path)))
    with trio.fail_after(PATIENCE):
        await attack.run(islice(make_cases(SEED), CASES), until=lambda: False)

    assert [*attack.findings] == []
    assert attack.cases == CASES


PLANTED = {
    "stall": "stall",
    "failure": "status",
    "error": "log",
    "canary": "breach",
    "breach": "breach",
}


async def test_a_mistake_of_the_app_is_found(app: Path) -> None:
    async with open_target(app, planted=True) as target:
        for fault, kind in PLANTED.items():
            case = Case("query", (Message(b"/api/planted?fault=" + fault.encode()).to_bytes(),))
            found: list[Finding] = [one async for one in replay(target, case, everything=False)]
            assert kind in [one.kind for one in found], fault
            assert all(one.case == case for one in found)
        harmless = Case("query", (Message(b"/about").to_bytes(),))
        assert [one async for one in replay(target, harmless)] == []


async def test_a_page_of_asterisks_as_markdown_holds_nobody_up(app: Path) -> None:
    async with open_target(app) as target:
        for path, count in ((b"/about.md", 4000), (b"/about.md", 7500), (b"/index.md", 7500)):
            await target.ask(Message(path))  # what is imported, is imported
            await target.take_state()
            answered: list[int] = []
            replies: list[Reply] = []

            async def receive(client: Client, replies: list[Reply]) -> None:
                replies.append(await client.reply())

            async with await target.running.connect() as client, trio.open_nursery() as nursery:
                await client.send(Message(path + b"?q=" + b"*" * count).to_bytes())
                nursery.start_soon(receive, client, replies)
                while not (answered and replies):  # once at least, however fast the page is
                    answered.append((await target.ask(Message(b"/healthz"))).status)

            [reply] = replies
            assert (reply.status, reply.body.count(b"*") >= count) == (200, True)
            assert set(answered) == {200}
            assert (await target.take_state())["stalls"] == []
