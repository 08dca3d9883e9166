"""The cases of head elements that both languages read: HTML in, nodes out, in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fxtrio.head import parse_head

CASES = json.loads((Path(__file__).parents[1] / "wire" / "head.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_sources_of_a_case_parse_to_its_levels(case: dict[str, Any]) -> None:
    assert [parse_head(source) for source in case["sources"]] == case["levels"]
