"""What is wrong with the files of a project is said with its place, and never with a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.compile.bundling import early_bundler
from fxtrio.compile.bundling.bundle import bundle
from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundlerCrashed
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from tests.bundle.project import Project

pytestmark = pytest.mark.node

PAGE = "export default function Page() { return <p>x</p>; }\n"
PYTHON = "import os\nPASSWORD = 'tr0ub4dor'\n\n"


@pytest.fixture(autouse=True)
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_syntax_error_has_the_line_and_column_of_the_fxl_file(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "export default function P() {\n  retrn <p/>;\n}\n", PYTHON)
    [problem] = project.problems()
    assert (problem.path, problem.line) == ("pages/index.fxl", 5)
    assert problem.message
    assert "5 |   retrn <p/>;" in problem.frame
    assert "PASSWORD" not in problem.frame
    mark = problem.frame.splitlines()[-2]
    assert mark.index("^") == len("5 | ") + problem.column - 1
    assert str(problem).startswith(f"pages/index.fxl:5:{problem.column}: ")


def test_columns_count_characters(tmp_path: Path) -> None:
    project = Project(tmp_path)
    line = "const ä = '😀é'; const b = 1 +* 2;"
    project.page("pages/index.fxl", f"{line}\n{PAGE}")
    [problem] = project.problems()
    assert (problem.line, problem.column) == (1, line.index("*") + 1)


def test_the_problems_of_all_files_are_reported_together_each_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/b.fxl", "export default <p></q>;\n")
    project.page("pages/a.fxl", "import './missing';\n" + PAGE)
    project.page("pages/c.fxl", PAGE)
    problems = project.problems()
    assert {problem.path for problem in problems} >= {"pages/b.fxl"}
    assert len({str(problem) for problem in problems}) == len(problems)
    assert list(problems) == sorted(problems)


def test_a_package_that_is_not_installed_is_named_with_the_command(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import { z } from '@scope/pkg/deep';\nz();\n" + PAGE, PYTHON)
    [problem] = project.problems()
    assert "@scope/pkg/deep" in problem.message
    assert "npm install @scope/pkg" in problem.message
    assert (problem.path, problem.line) == ("pages/index.fxl", 4)


def test_modules_of_node_are_rejected_where_the_project_imports_them(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("components/x.js", "\nimport path from 'path';\nexport const x = path.sep;\n")
    project.write("node_modules/both/index.js", "import fs from 'node:fs';\nexport default fs;\n")
    project.write("node_modules/both/package.json", '{"name": "both", "type": "module"}')
    imports = "import fs from 'node:fs';\nimport { x } from '../components/x';\n"
    project.page("pages/index.fxl", f"{imports}import b from 'both';\n[fs, x, b];\n{PAGE}", PYTHON)
    project.page("pages/other.fxl", f"import {{ x }} from '../components/x';\nx();\n{PAGE}")
    places = {(one.path, one.line): one.message for one in project.problems()}
    assert set(places) == {("pages/index.fxl", 4), ("components/x.js", 2)}
    assert (
        "'node:fs' is a module of Node, which browsers do not have. Read it in an"
        in places["pages/index.fxl", 4]
    )


def test_a_url_is_rejected_where_the_project_imports_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("public/logo.svg", "<svg/>")
    image = 'import logo from "/logo.svg";\nexport default () => <img src={logo} alt="" />;\n'
    project.page("pages/index.fxl", image, PYTHON)
    [problem] = project.problems()
    assert (problem.path, problem.line) == ("pages/index.fxl", 4)
    assert problem.message.startswith("'/logo.svg' is a URL, not a module. Write it where")


def test_mdx_is_compiled_by_the_package_of_the_project(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("pages/doc.mdx", "Hello *you*")
    page = project.page(
        "pages/index.fxl",
        "import Doc from './doc.mdx';\nimport text from './doc.mdx?raw';\n"
        "export default () => <Doc title={text} />;\n",
    )
    [problem] = project.problems()
    assert problem.path == "pages/index.fxl"
    assert "Run 'npm install --save-dev @mdx-js/rollup'" in problem.message
    project.write(
        "node_modules/@mdx-js/rollup/index.js",
        """export default ({ include, word }) => ({
          name: 'mdx',
          transform: (code, id) => include.test(id) && {
            code: `import { jsx } from 'react/jsx-runtime';
              export default ({ title }) => jsx('p', { title, children: "${word}" });`,
            map: null,
          },
        });""",
    )
    project.write(
        "node_modules/@mdx-js/rollup/package.json",
        '{"name": "@mdx-js/rollup", "type": "module", "exports": "./index.js"}',
    )
    project.write("mdx.config.mjs", "export default { word: 'compiled' };")
    result = project.build()
    assert project.render(result, page)["html"] == '<p title="Hello *you*">compiled</p>'


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import x from './mising.jsx';\nx();\n" + PAGE, PYTHON)
    [problem] = project.problems()
    assert "./mising.jsx" in problem.message and "Check the path" in problem.message
    assert (problem.path, problem.line) == ("pages/index.fxl", 4)


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("fx/clinet", "Did you mean 'fx/client'?"),
        ("fx/Client", "Did you mean 'fx/client'?"),
        ("fx/router", "The module of the framework is 'fx/client'."),
    ],
)
def test_another_module_of_the_framework_is_not_looked_for_in_packages(
    tmp_path: Path, module: str, remedy: str
) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", f"import {{ Link }} from '{module}';\nexport default Link;\n")
    [problem] = project.problems()
    assert problem.message == f"'{module}' cannot be found. {remedy}"


def test_a_name_that_fx_client_does_not_have_is_reported(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page(
        "pages/index.fxl", "import { Lnk } from 'fx/client';\nexport default Lnk;\n", PYTHON
    )
    [problem] = project.problems()
    assert problem.message == "'fx/client' has no export 'Lnk'. Did you mean 'Link'?"
    assert (problem.path, problem.line) == ("pages/index.fxl", 4)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "import { Crad as x } from '../components/card';",
            "components/card.tsx has no export 'Crad'. Did you mean 'Card'?",
        ),
        (
            "import { Other as x } from '../components/card';",
            "components/card.tsx has no export 'Other'. It has Card, Deck.",
        ),
        (
            "import x from '../components/card';",
            "components/card.tsx has no default export. Write import { Card } in braces.",
        ),
        (
            "import { x } from './other.fxl';",
            "pages/other.fxl has no export 'x'. Its default is imported without braces.",
        ),
        (
            "import { useNothing as x } from 'react';",
            "'react' has no export 'useNothing'. 'fx check' lists what it has.",
        ),
    ],
)
def test_a_name_that_a_module_lacks_is_reported_with_those_it_has(
    tmp_path: Path, statement: str, message: str
) -> None:
    project = Project(tmp_path)
    project.write(
        "components/card.tsx",
        "export const Card = () => null;\nexport function Deck() {}\nexport type T = 1;\n",
    )
    project.page("pages/other.fxl", PAGE)
    project.page("pages/index.fxl", f"{statement}\nexport default () => x;\n")
    [problem] = project.problems()
    assert problem.message == message


def test_lines_around_a_problem_are_indented(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "export default function P() {\n  retrn <p/>;\n}\n")
    first, *others = str(project.problems()[0]).splitlines()
    assert first.startswith("pages/index.fxl:2:")
    assert others and all(line.startswith("  ") for line in others)


def test_a_mistake_in_a_stylesheet_is_reported(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import './a.css';\nimport './b.css';\n" + PAGE)
    project.write("pages/a.css", "p { color: red; }\n")
    project.write("pages/b.css", "p { color: red; }\nb { color red; }\n")
    [problem] = project.problems()
    assert (problem.path, problem.line, problem.column) == ("pages/b.css", 2, 10)
    assert "b { color red; }" in str(problem)


@pytest.mark.parametrize("name", ["package.json", "tsconfig.json"])
def test_a_json_file_that_cannot_be_read_is_reported_once_with_its_place(
    tmp_path: Path, name: str
) -> None:
    project = Project(tmp_path)
    project.write(name, '{\n  "a" 1\n}\n')
    project.page("pages/index.fxl", PAGE)
    project.page("pages/other.fxl", "import '../components/x';\n" + PAGE)
    project.write("components/x.tsx", "export const x: number = 1;\n")
    [problem] = project.problems()
    assert (problem.path, problem.line) == (name, 2)
    assert problem.message.startswith("it cannot be read as JSON: ")
    assert "acktrace" not in str(problem)


def test_what_the_configuration_of_postcss_throws_is_reported_without_its_stack(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.write("postcss.config.mjs", "throw new Error('no plug-ins today');\n")
    project.write("pages/a.css", "p { color: red; }\n")
    project.page("pages/index.fxl", "import './a.css';\n" + PAGE)
    [problem] = project.problems()
    cause = "the configuration of PostCSS fails: Error: no plug-ins today."
    assert problem.message == f"{cause} Run 'node postcss.config.mjs' to see it alone."
    assert (problem.path, problem.line, problem.column) == ("postcss.config.mjs", 1, 7)


def test_a_mistake_in_a_component_file_is_reported_with_its_place(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import '../components/card.tsx';\n" + PAGE)
    project.write("components/card.tsx", "\nexport const = 1;\n")
    [problem] = project.problems()
    assert (problem.path, problem.line) == ("components/card.tsx", 2)


def test_a_page_file_that_is_no_part_of_the_app_cannot_be_imported(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", "import C from '../components/card.fxl';\nC();\n" + PAGE)
    project.write("components/card.fxl", PAGE)
    [problem] = project.problems()
    assert "components/card.fxl is not a page file of this app" in problem.message
    assert (problem.path, problem.line, problem.column) == ("pages/index.fxl", 1, 15)


@pytest.mark.parametrize(
    "ui",
    [
        "import text from './index.fxl?raw'; console.log(text);\n",
        "import url from './index.fxl?url'; console.log(url);\n",
        "import url from './index.fxl?url&inline'; console.log(url);\n",
        "import text from '../settings.py?raw'; console.log(text);\n",
        "import url from '../settings.py?url'; console.log(url);\n",
        "console.log(new URL('./index.fxl', import.meta.url).href);\n",
        "console.log(new URL('../settings.py', import.meta.url).href);\n",
        "console.log(import.meta.glob('./*.fxl', { query: '?raw', eager: true }));\n",
        "console.log(import.meta.glob('../*.py', { query: '?url', eager: true }));\n",
        "import './leak.css';\n",
        "import W from './index.fxl?worker'; console.log(W);\n",
    ],
)
def test_the_text_of_server_code_cannot_be_imported(tmp_path: Path, ui: str) -> None:
    project = Project(tmp_path)
    project.write("settings.py", PYTHON)
    project.page("pages/other.fxl", PAGE, PYTHON)
    project.write("pages/leak.css", "p { background: url(./index.fxl) }")
    project.page("pages/index.fxl", ui + PAGE, PYTHON)
    problems = project.problems()
    assert any("contains server code" in problem.message for problem in problems), problems
    for folder in ("client", "ssr"):
        for path in (project.staging / folder).glob("*"):
            assert b"tr0ub4dor" not in path.read_bytes()


def test_a_react_that_is_too_old_is_rejected(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    for name in ("react", "react-dom"):
        project.write(f"node_modules/{name}/package.json", '{"version": "18.3.1"}')
    [problem] = project.problems()
    assert "react 18.3.1" in problem.message and "19 or newer" in problem.message


async def test_a_bundler_that_dies_is_a_defect_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    project.page("pages/index.fxl", PAGE)
    broken = tmp_path / "js"
    (broken / "vite").mkdir(parents=True)
    (broken / "vite/build.js").write_text(
        "console.error('last words', process.env.MIMALLOC_ALLOW_THP); process.exit(7)\n"
    )
    monkeypatch.setattr(early_bundler, "_BUILD", broken / "vite/build.js")
    with trio.fail_after(60), pytest.raises(BundlerCrashed, match="last words 0") as caught:
        await bundle(project.plan(), toolchain=tmp_path)
    assert caught.value.code == 7


async def test_a_failure_shows_every_problem_and_no_traceback(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.page("pages/a.fxl", "export default <p>;\n")
    project.page("pages/b.fxl", "export default <q>;\n")
    with trio.fail_after(60), pytest.raises(BundleFailed) as caught:
        await bundle(project.plan(), toolchain=await ensure_toolchain(print))
    text = str(caught.value)
    assert "pages/a.fxl:1" in text and "pages/b.fxl:1" in text
    assert "    at " not in text and "\x1b" not in text
