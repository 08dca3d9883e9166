"""The Dockerfile of `fx init --docker`: every command of it, for an app with npm packages."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from fxtrio.cli.init import starter
from tests.cli.dockerfile import Image
from tests.e2e.support import REPOSITORY, UNCOMPRESSED, serving
from tests.ports import free_port


@pytest.mark.nightly
def test_an_app_with_tailwind_is_built_and_served_by_its_dockerfile(tmp_path: Path) -> None:
    context, folder = tmp_path / "shop", tmp_path / "image"
    for name, data in starter("shop", docker=True, tailwind=True).items():
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        (context / name).write_bytes(data)
    # The package is not on PyPI yet: its clone takes the place of the line.
    (context / "requirements.txt").write_text(f"{REPOSITORY}[node]\n")
    text = (context / "Dockerfile").read_text("utf-8")
    image = Image(text, context, folder, env=UNCOMPRESSED)

    srv = image.build()

    assert image.stages == ["packages", "build", "last"]
    assert not (srv / "node_modules").exists()
    port = free_port()
    fx = str(folder / "venv" / "bin" / "fx")
    path = os.pathsep.join([str(Path(fx).parent), "/usr/bin", "/bin"])
    home = tmp_path / "home"
    home.mkdir()
    command = [fx, "serve", "--port", str(port)]
    env = {"HOME": str(home), "PATH": path, "XDG_CACHE_HOME": str(home / "cache")}
    with serving(command, srv, port, env=env) as server:
        response = httpx.get(server.url)
        style = next(part for part in response.text.split('"') if part.endswith(".css"))
        css = httpx.get(f"{server.url}{style}").text
    assert response.status_code == 200
    assert "tailwindcss" in css


def test_the_last_stage_has_nothing_that_only_builds_need() -> None:
    for options in ({}, {"tailwind": True}):
        text = starter("shop", docker=True, **options)["Dockerfile"].decode()
        last = text.rpartition("\nFROM ")[2]
        assert last.startswith("python:")
        assert "pip install" not in last
        assert "npm" not in last
        assert "USER app" in last
        assert ("npm install" in text) == bool(options)


def test_the_guide_shows_the_same_stages() -> None:
    guide = (REPOSITORY / "docs/guides/deployment.md").read_text("utf-8")
    shown = guide.partition("```dockerfile\n")[2].partition("```")[0]
    written = starter("shop", docker=True, database=True, tailwind=True)["Dockerfile"].decode()

    assert shown.rpartition("\nFROM ")[2] == written.rpartition("\nFROM ")[2]
    assert shown.partition("\n\n")[0] == written.partition("\n\n")[0]
