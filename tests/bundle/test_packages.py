"""Which packages a bundle contains: the app's own first, one React, PostCSS and variables."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from fxtrio.compile.bundling.bundle_errors import BundleFailed
from fxtrio.compile.bundling.installation import toolchain_folder
from tests.bundle.project import Project

pytestmark = pytest.mark.node

PAGE = """import { useState } from 'react';
import { Link } from 'fx/client';
export default function Page() { const [n] = useState(1); return <Link href="/">{n}</Link>; }
"""


def install_react(project: Project, *, marked: str) -> None:
    """Give the project a React of its own that differs from the toolchain's."""
    packages = toolchain_folder() / "node_modules"
    for name in ("react", "react-dom", "scheduler"):
        shutil.copytree(packages / name, project.root / "node_modules" / name)
    react = project.root / "node_modules/react/cjs/react.production.js"
    react.write_text(f"{react.read_text()}\nglobalThis.ownReact = {marked!r};\n")


def test_the_react_of_the_app_wins_on_both_sides(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    project.build()  # makes sure that the toolchain is there
    install_react(project, marked="mine")
    result = project.build()
    assert any("ownReact=`mine`" in text for text in project.client().values())
    answer = project.render(result, 0)
    assert answer["own"] == "mine"
    assert answer["html"] == '<a aria-current="page" href="/">1</a>'
    sources = project.server()["server.cjs.map"]
    assert "toolchain-" not in sources, "nothing of React comes from elsewhere"


def test_an_app_without_package_json_gets_the_react_of_the_toolchain(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    result = project.build()
    assert project.render(result, 0)["own"] is None


NOTICING = """var React = require("react"), make = React.createElement;
React.createElement = function () { return make.apply(null, arguments); };
exports.hasRender = "render" in require("react-dom");
"""


def has_whole_react(project: Project) -> bool:
    files = project.client().items()
    return any("prefetchDNS" in text for name, text in files if name.endswith(".js"))


def test_a_package_that_changes_react_gets_react_as_published(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    project.build()
    assert not has_whole_react(project)
    project.write("node_modules/noticing/package.json", '{"main": "index.js"}')
    project.write("node_modules/noticing/index.js", NOTICING)
    noticing = f"import {{ hasRender }} from 'noticing'; globalThis.has = hasRender; {PAGE}"
    project.page("pages/index.fxl", noticing)
    project.build()
    assert has_whole_react(project)


def test_half_a_react_is_not_mixed_with_that_of_the_toolchain(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    project.build()
    install_react(project, marked="mine")
    shutil.rmtree(tmp_path / "node_modules/react-dom")
    result = project.build()
    assert project.render(result, 0)["own"] is None


def test_a_react_and_a_renderer_of_two_versions_are_named(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    project.build()
    install_react(project, marked="mine")
    project.write("node_modules/react-dom/package.json", '{"version": "19.0.1"}')
    react = json.loads((toolchain_folder() / "node_modules/react/package.json").read_text())
    versions = f"has react {react['version']} and react-dom 19.0.1. Install the same version"
    with pytest.raises(BundleFailed, match=re.escape(versions)):
        project.build()


def test_a_package_of_the_app_shares_its_react_with_the_pages(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("node_modules/ui-kit/package.json", '{"main": "index.cjs", "version": "1.0.0"}')
    project.write(
        "node_modules/ui-kit/index.cjs",
        "const React = require('react');\n"
        "exports.Count = () => React.createElement('b', null, React.useState(7)[0]);\n",
    )
    ui = "import { Count } from 'ui-kit';\nexport default () => <Count />;\n"
    project.page("pages/index.fxl", ui)
    result = project.build()
    assert project.render(result, 0)["html"] == "<b>7</b>", "hooks need the same React"


def test_postcss_runs_when_the_app_has_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "postcss.config.mjs",
        "export default { plugins: [{ postcssPlugin: 'x', Declaration(d) {\n"
        "  if (d.prop === 'tint') { d.prop = 'color'; console.log('noise'); } } }] };\n",
    )
    project.write("pages/a.css", "p { tint: red }")
    project.page("pages/index.fxl", "import './a.css';\n" + PAGE)
    result = project.build()
    [css] = result.files["pages/index.fxl"].css
    assert "color:red" in project.client()[css.removeprefix("/_fx/")]


def test_only_variables_with_a_public_prefix_reach_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FX_SECRET_KEY", "tr0ub4dor")
    project = Project(tmp_path)
    project.write(".env", "VITE_TITLE=tr0ub4dor\nFX_PUBLIC_SITE=from-fx\nOTHER=tr0ub4dor\n")
    ui = (
        "export default () => <p>{[String(import.meta.env.VITE_TITLE),\n"
        "  import.meta.env.FX_PUBLIC_SITE,\n"
        "  import.meta.env.MODE, String(import.meta.env.SSR), import.meta.env.BASE_URL,\n"
        "  String(import.meta.env.FX_SECRET_KEY), String(import.meta.env.OTHER)].join()}</p>;\n"
    )
    project.page("pages/index.fxl", ui)
    result = project.build()
    expected = "undefined,from-fx,production,true,/_fx/,undefined,undefined"
    assert project.render(result, 0)["html"] == f"<p>{expected}</p>"
    assert not any("tr0ub4dor" in text for text in project.client().values())


def test_node_env_of_the_caller_does_not_change_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_ENV", "development")
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    project.build()
    assert (
        ".development.js" not in project.server()["server.cjs.map"].partition("sourcesContent")[0]
    )


def test_a_link_to_the_project_folder_leads_to_the_same_build(tmp_path: Path) -> None:
    project = Project(tmp_path / "real")
    project.page("pages/index.fxl", PAGE)
    result = project.build()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    linked = Project(tmp_path / "link", views=project.views, modules=project.modules)
    assert linked.build() == result


def test_a_vite_config_of_the_app_is_not_needed_and_not_read(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("vite.config.js", "throw new Error('must not be read');\n")
    project.write("tsconfig.json", '{"compilerOptions": {"jsx": "preserve", "target": "es5"}}')
    project.page("pages/index.fxl", PAGE)
    assert [path.name for path in project.staging.iterdir()] == ["ui"]
    project.build()
    assert sorted(path.name for path in project.staging.iterdir()) == ["client", "ssr", "ui"]
