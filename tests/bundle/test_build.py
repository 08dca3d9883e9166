"""Bundling a small project: what is written, and what the result says about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.compile.bundling.bundle import BundleResult, bundle
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from tests.bundle.project import Project, original_place, render, uses_compiled_code

pytestmark = pytest.mark.node

LAYOUT = """import './site.css';
import { Link } from 'fx/client';
export default function Layout({ children, data }) {
  return <div className="site"><Link href="/about">{data.name}</Link>{children}</div>;
}
"""
SECRET = "tr0ub4dor"
PYTHON = f'''TOKEN = "{SECRET}"

@server
async def load(request):
    return {{"title": "{SECRET}"[:0]}}

'''
INDEX = """"use client";
import styles from './index.module.css';
import shared from '@/components/shared';
import icon from './icon.svg';
import photo from '../photo.png';
import words from '../words.json';
import { Head } from 'fx/client';

type Props = { data: { title: string } };

export default function Index({ data }: Props) {
  return (
    <main className={styles.big}>
      <Head><title>{data.title}</title></Head>
      <img src={photo} alt={words.alt as string} /><img src={icon} alt="" />{shared()}
    </main>
  );
}
"""
ABOUT = """import './about.css';
import shared from '../components/shared';
import { lazy } from 'react';
const Later = lazy(() => import('../components/later.jsx'));
export const name = 'About';
export default function About() {
  if (globalThis.explode) throw new Error('explode-about');
  return <p>{shared()}<Later /></p>;
}
"""


def make_sample(root: Path) -> Project:
    project = Project(root)
    project.write("pages/site.css", ".site { color: red }")
    project.write("pages/about.css", ".about { color: blue }")
    project.write("pages/index.module.css", ".big { font-size: 9rem }")
    project.write("pages/icon.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    project.write("photo.png", b"\x89PNG" + bytes(8000))
    project.write("words.json", '{"alt": "A photo"}')
    project.write("public/never.txt", "served by Python")
    project.write("components/shared.ts", "export default (): string => 'shared-text';\n")
    project.write("components/later.jsx", "export default () => <b>later-text</b>;\n")
    around = (("pages/layout.fxl", False),)
    project.page("pages/index.fxl", INDEX, PYTHON, layouts=around, boundaries=(2, 3))
    project.page("pages/about.fxl", ABOUT, PYTHON, layouts=around, boundaries=(2, 3))
    error = "export default ({ error }) => <h1>{error.message}</h1>;\n"
    project.page("pages/error.fxl", error, kind="error", layouts=around, boundaries=(3,))
    project.page("pages/error.fxl", error, kind="error")
    project.add("pages/layout.fxl", LAYOUT, PYTHON)
    return project


def maps(files: dict[str, str]) -> list[dict[str, Any]]:
    return [json.loads(text) for name, text in files.items() if name.endswith(".map")]


def scripts(files: dict[str, str]) -> list[str]:
    return [text for name, text in files.items() if name.endswith((".js", ".mjs"))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def result(project: Project) -> BundleResult:
    return project.build()


def test_every_url_of_the_result_is_a_file(project: Project, result: BundleResult) -> None:
    urls = [result.entry.module, *result.entry.preload]
    for assets in result.files.values():
        urls += [assets.module, *assets.css, *assets.preload]
    assert sorted(result.files) == sorted(project.modules)
    for url in urls:
        assert url.startswith("/_fx/")
        assert (project.staging / "client" / url.removeprefix("/_fx/")).is_file()
    scripts = {path.name for path in (project.staging / "client").glob("*.js")}
    unnamed = scripts - {url.removeprefix("/_fx/") for url in urls}
    # What is imported when something runs: by a page, by the client of an app with a base URL, and
    # when a navigation is likely.
    assert {name.partition("-")[0] for name in unnamed} <= {"later", "below", "visits"}


def test_no_server_code_is_in_any_file(project: Project, result: BundleResult) -> None:
    assert SECRET in (project.root / "pages/index.fxl").read_text()
    written = {**project.client(), **project.server()}
    assert any(name.endswith(".map") for name in written)
    for name, text in written.items():
        assert SECRET not in text, name
        assert "async def load" not in text, name


def test_each_page_has_its_own_chunk(project: Project, result: BundleResult) -> None:
    files = project.client()
    about = files[result.files["pages/about.fxl"].module.removeprefix("/_fx/")]
    index = files[result.files["pages/index.fxl"].module.removeprefix("/_fx/")]
    assert "About" in about and "About" not in index
    assert "A photo" in index and "A photo" not in about
    assert [
        name for name, text in files.items() if "later-text" in text and ".map" not in name
    ] == [name for name in files if name.startswith("later-") and name.endswith(".js")]


def test_stylesheets_are_split_by_page(project: Project, result: BundleResult) -> None:
    files = project.client()

    def css(source: str) -> str:
        return "".join(files[url.removeprefix("/_fx/")] for url in result.files[source].css)

    assert "9rem" in css("pages/index.fxl") and "#00f" not in css("pages/index.fxl")
    assert "#00f" in css("pages/about.fxl").replace("blue", "#00f")
    assert result.files["pages/error.fxl"].css == ()
    layout, index = result.files["pages/layout.fxl"].css, result.files["pages/index.fxl"].css
    assert result.clients[0]["css"] == [*layout, *index]
    assert "css" not in result.clients[3]


def test_a_view_lists_layouts_and_boundaries(result: BundleResult) -> None:
    layout = result.files["pages/layout.fxl"].module
    error = result.files["pages/error.fxl"].module
    client = result.clients[0]
    assert client["module"] == result.files["pages/index.fxl"].module
    assert client["layouts"] == [{"module": layout}]
    assert client["boundaries"] == [{"module": error, "depth": 1}, {"module": error, "depth": 0}]
    assert client["build"] == result.build_id
    assert "boundaries" not in result.clients[3]


def test_the_bundle_renders_with_the_urls_of_the_client(
    project: Project, result: BundleResult
) -> None:
    answer = project.render(result, 0, props={"data": {"title": "T"}, "layoutData": {"name": "N"}})
    assert answer["head"].startswith('<title data-fx-head="">T</title>')
    photo = next(name for name in project.client() if name.startswith("photo-"))
    assert f'src="/_fx/{photo}"' in answer["html"]
    assert 'src="data:image/svg+xml' in answer["html"], "small assets are part of the page"
    assert "shared-text" in answer["html"]
    assert (answer["pages"], answer["buildId"]) == (4, result.build_id)


def test_css_modules_have_the_same_names_on_both_sides(
    project: Project, result: BundleResult
) -> None:
    html = project.render(result, 0)["html"]
    [css] = result.files["pages/index.fxl"].css
    name = html.partition('<main class="')[2].partition('"')[0]
    assert name and f".{name}" in project.client()[css.removeprefix("/_fx/")]


def test_the_public_folder_is_not_copied(project: Project, result: BundleResult) -> None:
    assert not any(name.startswith("never") for name in project.client())


def test_production_has_no_development_build_of_react(
    project: Project, result: BundleResult
) -> None:
    built = {**project.client(), **project.server()}
    sources = {source for text in maps(built) for source in text["sources"]}
    assert any(source.endswith("react-dom-client.production.js") for source in sources)
    assert any(source.endswith("server-legacy.node.production.js") for source in sources)
    assert not any(source.endswith(".development.js") for source in sources)
    assert not any("process.env.NODE_ENV" in text for text in scripts(built))


def test_an_error_of_a_component_leads_to_the_line_in_the_fxl_file(
    project: Project, result: BundleResult
) -> None:
    server = project.staging / "ssr" / result.server
    about = project.root / "pages/about.fxl"
    line = (
        (PYTHON + ABOUT)
        .splitlines()
        .index("  if (globalThis.explode) throw new Error('explode-about');")
    )
    assert original_place(server, 'Error("explode-about")') == f"{about}:{line + 1}:37"
    chunk = result.files["pages/about.fxl"].module.removeprefix("/_fx/")
    place = original_place(project.staging / "client" / chunk, "Error(`explode-about`)")
    assert place.rpartition(":")[0] == f"{about}:{line + 1}"


def test_the_server_bundle_is_a_script_with_its_compiled_code(
    project: Project, result: BundleResult
) -> None:
    assert result.loads
    assert set(project.server()) == {"server.cjs", "server.cjs.map", "server.cjs.v8"}
    assert uses_compiled_code(project.staging / "ssr/server.cjs")


MODULES = [
    "await Promise.resolve('x')",
    "import.meta.resolve('node:os') && 'x'",
    "import(/* @vite-ignore */ ['node:os'][0]).then(() => 'x')",
    "new Function('name', 'return import (name)')('node:os').then(() => 'x')",
    "new ((async () => {}).constructor)(\"return 'x' || import('node:os')\")()",
    "(0, eval)('import(`node:os`)').then(() => 'x')",
]
SCRIPTS = [
    "import('../late.js').then((late) => late.default)",
    "import.meta.url.endsWith('/ssr/server.cjs') && 'x'",
    "function () { return this; }() === undefined && 'x'",
    "`${import.meta.env.MODE}…` === 'production…' && 'x'",
    "['x', 'Write `await import(name)` in an effect'][0]",
]


@pytest.mark.parametrize("code", [*MODULES, *SCRIPTS])
def test_the_server_bundle_is_a_module_where_a_page_needs_one(tmp_path: Path, code: str) -> None:
    project = Project(tmp_path)
    project.write("late.js", "export default 'x';")
    page = f"globalThis.ownReact = {code};\nexport default function P() {{ return <p>x</p>; }}"
    project.page("pages/index.fxl", page)
    result = project.build()
    assert result.loads
    assert result.warnings == ()
    files = {"server.mjs"} if code in MODULES else {"server.cjs", "server.cjs.v8"}
    assert files == {name for name in project.server() if not name.endswith(".map")}
    assert project.render(result, 0)["own"] == "x"


def test_nothing_odd_is_reported(result: BundleResult) -> None:
    assert result.warnings == ()


def test_equal_projects_have_equal_ids_wherever_they_are(
    result: BundleResult, tmp_path: Path
) -> None:
    project = make_sample(tmp_path / "elsewhere" / "deeper")
    again = project.build()
    assert again.build_id == result.build_id
    assert again.files == result.files
    assert project.build(seed="x").build_id != result.build_id
    project.add("pages/about.fxl", ABOUT.replace("About()", "About2()"))
    assert project.build().build_id != result.build_id


def test_a_base_url_is_in_front_of_every_url(tmp_path: Path) -> None:
    project = make_sample(tmp_path)
    result = project.build(base="/app/_fx/")
    assert result.entry.module.startswith("/app/_fx/runtime-")
    html = project.render(result, 0, props={"data": {}, "layoutData": {"name": "N"}})["html"]
    assert 'src="/app/_fx/photo-' in html
    assert '<a href="/app/about">' in html


def test_development_has_development_react_and_source_maps_for_the_browser(tmp_path: Path) -> None:
    project = make_sample(tmp_path)
    result = project.build(mode="development")
    page = project.client()[result.files["pages/index.fxl"].module.removeprefix("/_fx/")]
    assert "//# sourceMappingURL=" in page and SECRET not in page
    for side in (project.client(), project.server()):
        sources = {source for text in maps(side) for source in text["sources"]}
        assert any(source.endswith("/react.development.js") for source in sources)
        assert not any(source.endswith(".production.js") for source in sources)
        assert not any(SECRET in text for text in side.values())
    props = {"data": {"title": "T"}, "layoutData": {}}
    assert "shared-text" in project.render(result, 0, props=props)["html"]


def test_names_that_sound_alike_stay_apart(tmp_path: Path) -> None:
    project = Project(tmp_path)
    sources = ["pages/(a)/[id].fxl", "pages/a/id.fxl", "pages/a/[...id].fxl", "pages/ä.fxl"]
    for source in sources:
        project.page(source, f"export default () => <p>{{{source!r}}}</p>;\n")
    result = project.build()
    assert len({assets.module for assets in result.files.values()}) == 4
    for id, source in enumerate(sources):
        assert source in render(project.staging, result, id)["html"]


def test_a_page_that_is_a_link_is_a_page_of_its_own(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "export default () => <p>shown twice</p>;\n")
    project.page("pages/copy.fxl", "export default () => <p>shown twice</p>;\n")
    project.page("pages/elsewhere.fxl", "export default () => <p>no page where it is</p>;\n")
    project.page(
        "pages/both.fxl",
        "import Copy from './copy.fxl';\nimport Elsewhere from '../pages/elsewhere.fxl';\n"
        "export default () => <div><Copy /><Elsewhere /></div>;\n",
    )
    copy = project.root / "pages/copy.fxl"
    copy.unlink()
    copy.symlink_to("index.fxl")
    elsewhere = project.root / "pages/elsewhere.fxl"
    elsewhere.rename(project.root / "shown.fxl")
    elsewhere.symlink_to("../shown.fxl")
    result = project.build()
    for id, text in enumerate(["shown twice", "shown twice", "no page where it is"]):
        assert text in render(project.staging, result, id)["html"]
        assert text in render(project.staging, result, 3)["html"]


async def test_cancelling_ends_the_bundler(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import './a.css'; export default () => null;\n")
    project.write("pages/a.css", "p {}")
    project.write(
        "postcss.config.cjs",
        "require('fs').writeFileSync(__dirname + '/pid', String(process.pid));\n"
        "module.exports = { plugins: [{ postcssPlugin: 'slow', Once: () => new Promise(() =>"
        " setInterval(() => {}, 1000)) }] };\n",
    )
    folder = await ensure_toolchain(print)
    pid_file = trio.Path(tmp_path / "pid")
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: bundle(project.plan(), toolchain=folder))
            pid = ""  # the file is there before there is something in it
            while not pid:
                await trio.sleep(0.02)
                pid = await pid_file.read_text() if await pid_file.exists() else ""
            nursery.cancel_scope.cancel()
    assert not await trio.Path(f"/proc/{pid}").exists()
