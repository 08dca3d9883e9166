"""`fx check` reports settings that name routes which the project does not have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fxtrio.cli import main
from tests.trees import write_tree

UI = "export default function Page() {\n  return <p>x</p>;\n}\n"
APP = """
    from starlette.responses import PlainTextResponse

    from fxtrio.app import create_app

    app = create_app(".")


    async def hook(request):
        return PlainTextResponse("")


    app.add_route("/hooks/{name}", hook)
    """
FILES = {
    "pages/index.fxl": UI,
    "pages/blog/[id].fxl": UI,
    "pages/api/items.py": "async def get(request):\n    return {}\n",
    "public/images/a.txt": "a",
}


def check(root: Path, files: dict[str, str], **config: object) -> tuple[int, str]:
    text = json.dumps(config, indent=2)
    write_tree(root, {**FILES, **files, "fx.config.json": text})
    result = CliRunner().invoke(main, ["check", "--root", str(root)])
    return result.exit_code, result.output


@pytest.mark.node
def test_routes_that_are_there_are_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = check(
        tmp_path,
        {"app.py": APP},
        cors={"origins": ["*"], "routes": ["/api/*", "/blog/[id]"]},
        rateLimits=[
            {"route": "/hooks/{name}", "limit": "1/day"},
            {"route": "/*", "limit": "9/day"},
        ],
        cacheControl={"/": "public", "/images/*": "public", "/images/a.txt": "no-cache"},
    )
    assert code == 0, output


@pytest.mark.node
def test_others_are_named_with_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = check(
        tmp_path,
        {"app.py": APP},
        cors={"origins": ["*"], "routes": ["/apis/*"]},
        rateLimits=[{"route": "/blog/[slug]", "limit": "1/day"}],
        cacheControl={"/picture.png": "public"},
    )
    assert code == 1
    lines = output.splitlines()
    assert [line for line in lines if "cors.routes" in line and "fx.config.json:" in line]
    assert [line for line in lines if "'/blog/[slug]'. Did you mean '/blog/[id]'" in line]
    assert [line for line in lines if "names no route of the project: '/picture.png'" in line]


@pytest.mark.node
def test_there_is_no_warning_when_the_routes_of_the_app_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = {"app.py": "raise RuntimeError('no')\n"}
    _, output = check(tmp_path, broken, cacheControl={"/hooks/x": "public"})
    assert "names no route" not in output
    assert "RuntimeError" in output


@pytest.mark.node
def test_a_project_without_an_app_has_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = check(tmp_path, {}, cacheControl={"/nowhere": "public"})
    assert code == 1 and "names no route of the project: '/nowhere'" in output
