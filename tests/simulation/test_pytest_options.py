"""The options of pytest: one seed, more seeds, and seeds shared out among workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

TEST = """
from fx.testing import simulate

SEEN = {seen!r}

@simulate({root!r}, seeds=6, also=[3, 40])
async def test_counts(world):
    with open(SEEN, "a") as file:
        file.write(f"{{world.seed}}\\n")
    assert world.seed != 77
"""


def run(tmp_path: Path, *arguments: str) -> tuple[list[int], str]:
    """Run pytest on a simulated test; return the seeds that ran, and what it printed."""
    seen = tmp_path / "seen"
    seen.unlink(missing_ok=True)
    root = str(Path(__file__).parent / "apps" / "bank")
    (tmp_path / "test_counts.py").write_text(TEST.format(seen=str(seen), root=root))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    done = subprocess.run(
        [*command, "test_counts.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return sorted(int(line) for line in seen.read_text().splitlines()), done.stdout


def test_the_seeds_of_a_test_are_chosen_and_shared_out(tmp_path: Path) -> None:
    seeds, _ = run(tmp_path)
    assert set(seeds) == {*range(6), 40}
    seeds, printed = run(tmp_path, "--fx-seeds", "10", "-n", "2")
    assert set(seeds) == {*range(10), 40}
    assert "2 passed" in printed
    seeds, printed = run(tmp_path, "--fx-seed", "77")
    assert set(seeds) == {77}
    assert re.search(r"pytest test_counts\.py -k test_counts --fx-seed 77", printed)


def test_the_package_is_imported_as_it_is_without_pytest() -> None:
    spec = sys.modules["fxtrio.config"].__spec__
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
