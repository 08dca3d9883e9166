"""The commands in the README of each example start it, as they are written, within its budget."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import httpx
import pytest

from fxtrio.compile.publish.page_weights import require_budget, weigh_pages
from fxtrio.manifest import FOLDERS, load_manifest
from tests.e2e.support import EXAMPLES, REPOSITORY, UNCOMPRESSED, copy_example, serving
from tests.ports import free_port

pytestmark = pytest.mark.node

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))

WITH_SCRIPTS, WITHOUT = 90_000, 2_000
"""What a page of an example may load: compressed bytes of scripts and stylesheets."""


def commands(name: str) -> str:
    """Return the first block of commands of a README."""
    text = (EXAMPLES / name / "README.md").read_text("utf-8")
    found = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_a_readme_serve_the_example(name: str, tmp_path: Path) -> None:
    copy_example(name, tmp_path / "examples")
    script = commands(name).strip()
    assert script.endswith("\nfx serve")
    port = free_port()
    # The package is installed already, and tests run beside each other: each has its own port.
    script = f"pip() {{ :; }}\n{script.removesuffix('fx serve')}exec fx serve --port {port}"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**UNCOMPRESSED, "PATH": path, "FX_SECRET_KEY": ""}
    with serving(["bash", "-ec", script], tmp_path, port, env=env) as server:
        response = httpx.get(server.url, follow_redirects=True)

    assert response.status_code == 200
    assert "<h1" in response.text
    build = tmp_path / "examples" / name / FOLDERS["production"]
    weights = weigh_pages(build, load_manifest(build))
    require_budget(weights, WITH_SCRIPTS)
    require_budget([page for page in weights if not page.script.raw], WITHOUT)


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_installs_extras_that_there_are(name: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    text = (EXAMPLES / name / "README.md").read_text("utf-8")
    asked = {extra for names in re.findall(r"\[([a-z,]+)\]\"", text) for extra in names.split(",")}

    assert asked
    assert asked <= set(project["optional-dependencies"])
