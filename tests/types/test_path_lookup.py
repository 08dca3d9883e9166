"""Paths are looked up in declarations that stay small, however many pages there are."""

from __future__ import annotations

import msgspec

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.ui.path_lookup import lookup_types


def looked_up(patterns: list[str]) -> list[str]:
    pages = [
        msgspec.convert({"source": f"pages{one}.fxl", "kind": "page", "pattern": one}, PageTypes)
        for one in patterns
    ]
    found = {number: f"P{number}" for number in range(len(pages))}
    return list(lookup_types(pages, found, none="None", otherwise="any"))


def test_pages_without_parameters_are_in_one_table_and_the_others_name_the_next_one_once() -> None:
    fixed = [f"/fixed/{number}" for number in range(300)]
    with_parameter = [f"/with/{number}/[id]" for number in range(300)]
    table, *chain = looked_up([*fixed, *with_parameter])

    assert table.startswith("interface $Fixed {")
    assert '"/fixed/299": P299;' in table
    assert len(chain) == 1 + len(with_parameter) + 1
    for index, line in enumerate(chain[:-1]):
        assert line.count(f"$Page{index + 1}<Path>") == 1
