"""A bundle that no server can load fails the build, at the place that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fxtrio.cli.build import run_build
from fxtrio.cli.trial_load import as_problem
from fxtrio.compile.bundling.bundle_errors import BundleFailed
from fxtrio.config import Config
from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.trial_start import try_start
from tests.trees import write_tree

PAGE = "import { width } from '../lib/screen';\n\nexport default () => <p>{width}</p>;\n"
SCREEN = "export const one = 1;\nexport const width = document.body.clientWidth;\n"


@pytest.mark.node
def test_a_module_that_reads_the_document_is_named_with_its_line_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_tree(tmp_path, {"pages/index.fxl": PAGE, "lib/screen.js": SCREEN}))

    with pytest.raises(BundleFailed) as failed:
        run_build(tmp_path, Config(), budget=None, quiet=True)

    [problem] = failed.value.problems
    assert (problem.path, problem.line, problem.column) == ("lib/screen.js", 2, 22)
    assert problem.message == (
        "no server can load this: ReferenceError: document is not defined. It exists only in "
        "browsers: use it in an effect, or in a function in <ClientOnly>."
    )
    assert "2 | export const width = document.body.clientWidth;" in problem.frame
    assert not (tmp_path / ".fx/build").exists()


@pytest.mark.parametrize(
    ("cause", "log", "expected"),
    [
        (
            "exited with code 1",
            "loading\nReferenceError: window is not defined. It exists only in browsers.\n"
            "    at ROOT/node_modules/@maps/core/index.js:1:13\n    at BUNDLE:5:49",
            "pages/index.fxl:2:22: no server can load this: the package '@maps/core' fails: "
            "ReferenceError: window is not defined. Import it in browsers only: "
            "await import('@maps/core') in an effect.",
        ),
        (
            "exited with code 1",
            "Error: x\n    at BUNDLE:5:49",
            "no server can load this: Error: x. Move it into a component, an effect or a function.",
        ),
        (
            "exited with code 3",
            "loading",
            "no server can load this: the process exited with code 3. "
            "Look for process.exit() in modules that pages import.",
        ),
        (
            "exited with code 0",
            "",
            "no server can load this: the process exited with code 0. "
            "Look for process.exit() in modules that pages import.",
        ),
    ],
)
def test_what_a_process_says_becomes_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str, log: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    page = "import React from 'react';\nimport { Map } from '@maps/core/map';\n"
    sources = ["../node_modules/@maps/core/map.js", "../pages/index.fxl"]
    files = {"pages/index.fxl": page, "ssr/server.mjs.map": json.dumps({"sources": sources})}
    write_tree(tmp_path, files | {"node_modules/@maps/core/map.js": "import '@maps/core';\n"})
    bundle = tmp_path / "ssr/server.mjs"
    log = log.replace("ROOT", str(tmp_path)).replace("BUNDLE", str(bundle))

    problem = as_problem(SsrStartFailed(bundle, cause, log), tmp_path)

    assert str(problem).splitlines()[0] == expected


@pytest.mark.node
@pytest.mark.parametrize(
    ("text", "cause", "log"),
    [
        ("export const pages = 1, buildId = 'x';", "", ""),
        ("console.log('one'); process.exit(3);", "exited with code 3", "one"),
        ("throw 'two';", "exited with code 1", "Error: two"),
    ],
)
async def test_a_bundle_is_loaded_in_a_process_of_its_own(
    tmp_path: Path, text: str, cause: str, log: str
) -> None:
    bundle = tmp_path / "server.mjs"
    bundle.write_text(text)
    found = "", ""
    try:
        await try_start(Launch(bundle=bundle, node="node", heap_mb=64))
    except SsrStartFailed as error:
        found = error.cause, error.log
    assert found == (cause, log)
