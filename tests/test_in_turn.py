"""The order of test files: heavy ones apart from each other, light ones last."""

from __future__ import annotations

from itertools import pairwise

from tests.in_turn import in_turn, kind_of


def test_kinds_are_spread_and_light_files_come_last() -> None:
    files = {f"b{number}": "browser" for number in range(3)}
    files |= {f"p{number}": "processes" for number in range(3)}
    files |= {f"l{number}": "light" for number in range(12)}
    places = in_turn(files)
    order = sorted(files, key=places.__getitem__)
    assert sorted(order) == sorted(files)
    assert all(name.startswith("l") for name in order[-2:])
    heavy = [order.index(name) for name in order if name[0] in "bp"]
    assert [order[place] for place in heavy] == ["b0", "p0", "b1", "p1", "b2", "p2"]
    assert max(later - former for former, later in pairwise(heavy)) <= 4


def test_a_file_is_of_the_heaviest_kind_that_it_has() -> None:
    assert kind_of("cli", {"node", "browser"}) == "browser"
    assert kind_of("cli", {"node"}) == "processes"
    assert kind_of("edits", {"browser"}) == "long"
    assert kind_of("cli", {"browser", "shared_dev"}) == "long"
    assert kind_of("a folder that is new", ()) == "processes"
    assert kind_of("serve", {"node"}) == "light"
