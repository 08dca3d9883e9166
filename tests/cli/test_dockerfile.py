"""The Dockerfile of `fx init --docker`: every command of it, for apps of each kind."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from fxtrio.cli.init import starter
from tests.cli.dockerfile import Image
from tests.e2e.support import REPOSITORY, UNCOMPRESSED, serving
from tests.ports import free_port
from tests.trees import write_tree

STATIC = """STATIC = True

export default function Page() {
  return <h1>The same for all</h1>;
}
"""
_FX = """
import fxtrio.cli, fxtrio.standalone.packages
fxtrio.standalone.packages._OF_SERVERS = ()  # the extras of this environment are not needed
fxtrio.cli.main()
"""
DEVELOPMENT = f'pip() {{ :; }}; fx() {{ {sys.executable} -c {shlex.quote(_FX)} "$@"; }}\n'
"""The packages of this environment take the place of those that a build would install."""


def context_of(folder: Path, **options: bool) -> str:
    """Write a new project, and return its Dockerfile."""
    for name, data in starter("shop", docker=True, **options).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return (folder / "Dockerfile").read_text("utf-8")


def test_an_app_of_static_pages_is_built_and_served_without_node(tmp_path: Path) -> None:
    context, empty = tmp_path / "shop", tmp_path / "empty"
    text = context_of(context)
    for page in context.glob("pages/*.fxl"):
        page.unlink()
    write_tree(context, {"pages/index.fxl": STATIC})
    empty.mkdir()
    image = Image(text, context, tmp_path / "image", env=UNCOMPRESSED, functions=DEVELOPMENT)

    image.build()

    assert image.stages == ["build", "last"]
    command = [sys.executable, "-S", *image.command[1:], "--port", str(port := free_port())]
    command[command.index("0.0.0.0")] = "127.0.0.1"
    with serving(command, image.srv, port, env={"PATH": str(empty), "HOME": str(empty)}) as server:
        response = httpx.get(f"{server.url}/?from=mail")
    assert (response.status_code, "The same for all" in response.text) == (200, True)
    assert list(empty.iterdir()) == []


@pytest.mark.nightly
def test_an_app_with_everything_is_built_and_served_by_its_dockerfile(tmp_path: Path) -> None:
    context = tmp_path / "shop"
    text = context_of(context, tailwind=True, database=True, accounts=True)
    # The package is not on PyPI yet: its clone takes the place of the line.
    (context / "requirements.txt").write_text(f"{REPOSITORY}[auth,node]\n")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "image/venv")], check=True)
    image = Image(text, context, tmp_path / "image", env=UNCOMPRESSED)

    image.build()

    assert not list(image.srv.rglob("npm"))
    port = free_port()
    command = ["sh", "-c", f"{image.command[2]} --port {port}".replace("0.0.0.0", "127.0.0.1")]
    path = os.pathsep.join([str(tmp_path / "image/venv/bin"), "/usr/bin", "/bin"])
    with serving(command, image.srv, port, env={"HOME": "/nonexistent", "PATH": path}) as server:
        response = httpx.get(server.url)
        style = next(part for part in response.text.split('"') if part.endswith(".css"))
        css = httpx.get(f"{server.url}{style}").text
    assert response.status_code == 200
    assert "tailwindcss" in css
    assert (image.srv / "app/data/app.db").is_file()


@pytest.mark.parametrize("options", [{}, {"tailwind": True}, {"database": True}])
def test_the_last_stage_has_what_the_first_has_written_and_no_more(
    tmp_path: Path, options: dict[str, bool]
) -> None:
    text = context_of(tmp_path, **options)
    first, _, last = text.rpartition("\nFROM ")

    assert text.count("FROM ") == 2
    assert last.startswith("python:") and "COPY --from=build /srv /srv\n" in last
    assert "pip" not in last and "npm" not in last and "fx " not in last.replace("run.py", "")
    assert "USER 10001" in last
    assert ("npm install" in first) == ("node:22-slim" in first) == ("tailwind" in options)
    assert ("db up" in last) == ("install -d" in last) == ("database" in options)
    unit = (tmp_path / "deploy/shop.service").read_text("utf-8")
    compose = (tmp_path / "compose.yaml").read_text("utf-8")
    assert ("db up" in unit) == ("volumes:" in compose) == ("database" in options)
    assert "__" not in f"{text}{unit}{compose}".replace("FX_DATABASE__URL", "")


@pytest.mark.parametrize(
    ("language", "name"),
    [("dockerfile", "Dockerfile"), ("yaml", "compose.yaml"), ("ini", "deploy/shop.service")],
)
def test_the_guide_shows_the_same_files(tmp_path: Path, language: str, name: str) -> None:
    guide = (REPOSITORY / "docs/guides/deployment.md").read_text("utf-8")
    context_of(tmp_path, database=True, tailwind=True)

    block = guide.partition(f"```{language}\n")[2].partition("```")[0]
    assert block == (tmp_path / name).read_text("utf-8")


def test_the_command_is_a_list_that_needs_no_shell_without_a_database(tmp_path: Path) -> None:
    command = json.loads(context_of(tmp_path).rpartition("CMD ")[2])
    assert command[:3] == ["python", "/srv/run.py", "serve"]
