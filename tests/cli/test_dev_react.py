"""Which React `fx dev` uses: one, whatever packages bring along."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from fxtrio.compile.bundling.installation import toolchain_folder
from tests.e2e.support import Server, visit

pytestmark = pytest.mark.browser

PACKAGES = {
    "required": (
        "const React = require('react');\nexports.useWord = () => React.useState('one')[0];\n"
    ),
    "imported": (
        "import { useState } from 'react';\nimport { flushSync } from 'react-dom';\n"
        "export const useWord = () => useState(typeof flushSync)[0];\n"
    ),
}
"""Two packages with hooks: one as CommonJS, and one as a module."""

PAGE = """
import { useState } from "react";
import { useWord as useRequired } from "required";
import { useWord as useImported } from "imported";

export default function Page() {
  const [count, setCount] = useState(0);
  const words = `${count} ${useRequired()} ${useImported()}`;
  return <h1 onClick={() => setCount(count + 1)}>{words}</h1>;
}
"""


@pytest.fixture
def project(project: Path) -> Path:
    """A project as npm leaves it after a package with React as its peer: there is no react-dom."""
    packages = project / "node_modules"
    shutil.copytree(toolchain_folder() / "node_modules/react", packages / "react")
    for name, code in PACKAGES.items():
        (packages / name).mkdir()
        main = "index.cjs" if name == "required" else "index.mjs"
        about = {"name": name, "main": main, "peerDependencies": {"react": "^19.0.0"}}
        (packages / name / "package.json").write_text(json.dumps(about), "utf-8")
        (packages / name / main).write_text(code, "utf-8")
    (project / "pages/words.fxl").write_text(PAGE, "utf-8")
    return project


def test_a_react_that_a_package_brings_as_its_peer_is_not_mixed_with_the_renderer(
    browser: Browser, server: Server
) -> None:
    visitor = visit(browser)
    visitor.page.goto(f"{server.url}/words")
    heading = visitor.page.locator("h1")
    expect(heading).to_have_text("0 one function")  # from the server
    visitor.page.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")
    heading.click()
    expect(heading).to_have_text("1 one function")
    visitor.page.goto(server.url)  # a page without any package
    visitor.page.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")
    assert visitor.complaints == []
    visitor.page.context.close()
