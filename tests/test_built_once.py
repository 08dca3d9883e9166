"""What the processes of a run build once: `tests/built_once.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.trees import write_tree

ROOT = Path(__file__).parents[1]

ASKS = """
    from pathlib import Path

    def test_has_what_was_made(made):
        assert (made / "part/text").read_text() == "made"
        (made / "part/text").write_text("changed")
    """
TREE = {
    "conftest.py": """
        import os
        import pytest
        from tests.built_once import built_once
        from tests.workers import Workers

        def pytest_configure(config):
            if "WORKERS" in os.environ:
                config.pluginmanager.register(Workers(2))

        @pytest.fixture(scope="session")
        def made(pytestconfig, tmp_path_factory):
            def make(folder):
                with open("count", "a") as file:
                    file.write("x")
                (folder / "part").mkdir(parents=True)
                (folder / "part/text").write_text("made")

            yield built_once(pytestconfig, "it", tmp_path_factory.mktemp("it"), make)
            with open("left", "a") as file:
                file.write(f"{os.getpid()}\\n")
        """,
    "test_one.py": ASKS,
    "test_other.py": ASKS,
}


@pytest.mark.parametrize("workers", [True, False])
def test_all_processes_have_copies_of_what_was_built_once(workers: bool, tmp_path: Path) -> None:
    tree = TREE if workers else {**TREE, "test_other.py": ""}
    write_tree(tmp_path, tree)
    variables = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=tmp_path,
        env={**variables, **({"WORKERS": "2"} if workers else {})},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout
    assert (tmp_path / "count").read_text() == "x"
    assert len((tmp_path / "left").read_text().split()) == (2 if workers else 1)
