"""Neovim, as its users run it, with the plugin of this repository."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.lsp.test_across import FILES, place

NEOVIM = Path(__file__).parents[2] / "editors" / "neovim"
DRIVER = Path(__file__).with_name("neovim.lua")

pytestmark = pytest.mark.node


async def drive(project: Path, file: Path, steps: list[dict[str, Any]]) -> list[Any]:
    """Let Neovim take ``steps`` in ``file``; returns the result of each."""
    nvim = shutil.which("nvim")
    assert nvim is not None, "Neovim is missing: apt-get install neovim"
    orders, out = project / "asked.json", project / "told.json"
    orders.write_text(json.dumps({"file": str(file), "out": str(out), "steps": steps}))
    fx = json.dumps([sys.executable, "-m", "fxtrio", "lsp"])
    trusted = json.dumps([str(project)])
    before = [
        f"set runtimepath^={NEOVIM}",
        f"let g:fx_command = {fx}",
        f"let g:fx_trusted = {trusted}",
    ]
    arguments = [one for line in before for one in ("--cmd", line)]
    command = [nvim, "--headless", "--clean", *arguments, "-c", f"luafile {DRIVER}"]
    with trio.fail_after(100):
        done = await trio.run_process(
            command,
            cwd=project,
            env={**os.environ, "FX_ASKED": str(orders), "XDG_STATE_HOME": str(project / "state")},
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert out.exists(), done.stderr.decode()
    report = json.loads(out.read_text())
    assert report.get("failure") is None, report
    answers: list[Any] = report["answers"]
    return answers


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def at(before: str, text: str = FILES["pages/index.fxl"]) -> dict[str, int]:
    line, character = place(text, before)
    return {"line": line, "character": character}


def bytes_at(before: str) -> dict[str, int]:
    """Return a place as Neovim counts: columns in bytes of UTF-8."""
    text = FILES["pages/index.fxl"]
    offset = text.index(before) + len(before)
    start = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "column": len(text[start:offset].encode())}


async def test_neovim_shows_completes_finds_and_renames(project: Path) -> None:
    total = bytes_at("{data['tot")
    answers = await drive(
        project,
        project / "pages" / "index.fxl",
        [
            {"name": "ask", "method": "textDocument/hover", **at("author?.na")},
            {"name": "ask", "method": "textDocument/completion", **at("{entry.")},
            {"name": "ask", "method": "textDocument/definition", **at("author?.na")},
            {"name": "definition", **bytes_at('useAction("si')},
            {"name": "type", "line": 0, "from": 0, "to": 3, "text": '"""😀😀'},
            {
                "name": "type",
                "line": total["line"],
                "from": total["column"],
                "to": total["column"],
                "text": "' + missing + '",
            },
            {"name": "problems", "count": 1},
            {"name": "rename", "new": "write", **bytes_at('useAction("si')},
            {"name": "syntax", "line": 3, "column": 0},
            {"name": "syntax", **bytes_at("function Ca")},
        ],
    )
    hover, completion, definition, target, _, _, problems, renamed, python, ui = answers

    assert "name: string" in hover["contents"]["value"]
    assert [one["label"] for one in completion] == ["id", "title", "author"]
    assert [one["range"]["start"]["line"] for one in definition] == [7]
    assert target == [36, "async def sign(request, *, entry: NewEntry) -> Entry:"]
    assert [(one["line"], one["message"].split(".")[0]) for one in problems] == [
        (total["line"], "undefined name 'missing'")
    ]
    assert 'action="write"' in "".join(renamed)
    assert "async def write(request, *, entry: NewEntry) -> Entry:" in renamed
    assert python[0] == "fxlPythonHalf"
    assert ui[0] == "fxlUiHalf"


@pytest.mark.parametrize("answer", [0, 1, 2, 3])
async def test_neovim_starts_no_server_in_a_folder_that_its_user_does_not_trust(
    project: Path, answer: int
) -> None:
    started = project / "started"
    own = project / ".venv" / "bin" / "fx"
    own.parent.mkdir(parents=True)
    own.write_text(f"#!/bin/sh\necho started >> {started}\n")
    own.chmod(0o755)
    page = project / "pages" / "index.fxl"
    questions = project / "questions"
    confirm = (
        "lua vim.fn.confirm = function(question) "
        f"vim.fn.writefile({{question}}, '{questions}', 'a') return {answer} end"
    )
    waiting = f"vim.wait(10000, function() return vim.fn.filereadable('{started}') == 1 end, 20)"
    steps = [f"edit {page}", "doautocmd FileType fxl", f"lua {waiting if answer > 1 else ''}"]
    command = [shutil.which("nvim") or "nvim", "--headless", "--clean"]
    before = (f"set runtimepath^={NEOVIM}", confirm)
    command += [one for line in before for one in ("--cmd", line)]
    command += [one for line in (*steps, "qall!") for one in ("-c", line)]
    environment = {**os.environ, "XDG_DATA_HOME": str(project / "data")}
    with trio.fail_after(60):
        for _ in range(2):
            await trio.run_process(command, cwd=project, env=environment, capture_stderr=True)
    assert started.exists() is (answer > 1)
    assert len(questions.read_text().splitlines()) == (1 if answer == 3 else 2)
