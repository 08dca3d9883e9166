"""The short form of ``python -m tests.outages``, and its judgement."""

from __future__ import annotations

import pytest

from tests.outages.judge import Heard, judge
from tests.outages.run import Outage, run_outage
from tests.realtime.stores import Store, store, store_cluster

__all__ = ["store", "store_cluster"]

ACCEPTED = {(0, 0), (0, 1), (0, 2), (1, 0)}


@pytest.mark.parametrize(
    ("heard", "lost", "reported", "doubled", "disordered"),
    [
        ([(0, 0), (1, 0), (0, 1), (0, 2)], 0, 0, 0, 0),
        ([(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)], 0, 0, 0, 0),
        ([(0, 0), (0, 2), (1, 0)], 1, 0, 0, 0),
        ([(0, 0), None, (0, 2), (1, 0)], 0, 1, 0, 0),
        ([None, (0, 0), (0, 2), (1, 0)], 1, 0, 0, 0),
        ([(0, 0), (0, 2), None, (1, 0)], 1, 0, 0, 0),
        ([(0, 0), (0, 1), (1, 0)], 1, 0, 0, 0),
        ([(0, 0), (0, 1), None], 0, 2, 0, 0),
        ([(0, 0), (0, 1), (0, 1), (0, 2), (1, 0)], 0, 0, 1, 0),
        ([(0, 1), (0, 0), (0, 2), (1, 0)], 0, 0, 0, 1),
    ],
)
def test_losses_are_judged_by_their_place(
    heard: list[Heard], lost: int, reported: int, doubled: int, disordered: int
) -> None:
    verdict = judge(ACCEPTED, heard)
    assert (verdict.lost_silently, verdict.lost_and_reported) == (lost, reported)
    assert (verdict.doubled, verdict.disordered) == (doubled, disordered)


@pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")
@pytest.mark.parametrize(
    ("store", "outage"),
    [
        ("redis", Outage("kill", 0.2)),
        ("postgres", Outage("freeze", 0.5)),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in (
                ("redis", Outage("cut")),
                ("redis", Outage("freeze", 0.5)),
                ("postgres", Outage("cut")),
                ("postgres", Outage("kill", 0.2)),
            )
        ),
    ],
    indirect=["store"],
    ids=str,
)
async def test_no_message_is_lost_silently(store: Store, outage: Outage) -> None:
    report = await run_outage(store, outage, lead=0.5, tail=1)
    assert report.good, report
    if outage.kind != "kill":
        assert report.verdict.lost_and_reported == report.rejected == 0, report
