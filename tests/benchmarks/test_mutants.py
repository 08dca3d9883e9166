"""The defects that are planted to see whether simulations find them."""

from __future__ import annotations

import importlib
import re

import pytest

from benchmarks.mutant_list import MUTANTS, Mutant
from benchmarks.mutants import MutantOutdated, mutated

BROKEN = Mutant("none", "tasks.queue", "what no module has", "", "")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: re.sub(r"\W+", "-", mutant.name))
def test_each_mutant_still_changes_its_module_and_has_a_simulation(mutant: Mutant) -> None:
    compile(mutated(mutant), mutant.module, "exec")
    module, _, name = mutant.test.rpartition(".")
    assert callable(getattr(importlib.import_module(f"tests.simulation.runtime.{module}"), name))


def test_a_mutant_of_code_that_has_changed_is_named() -> None:
    with pytest.raises(MutantOutdated, match="is 0 times in"):
        mutated(BROKEN)
