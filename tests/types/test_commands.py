"""What the types of a project come to at the command line, and in `fx dev`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from click.testing import CliRunner
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from fxtrio.atomic_write import write_whole
from fxtrio.cli import main
from fxtrio.cli.check import check
from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.develop.build import background_typecheck
from fxtrio.develop.build.background_typecheck import BackgroundTypecheck
from fxtrio.develop.build.outlines import CheckInput
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import OverlayProblem
from fxtrio.tools.types.gather import gatherer_process
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes, load_types
from fxtrio.tools.types.report import checking, compiler
from fxtrio.tools.types.ui import compiler_settings, text_files, virtual_project
from fxtrio.tools.types.ui.socket_types import sockets_module
from fxtrio.tools.types.ui.text_files import write_text
from fxtrio.tools.types.ui.virtual_project import TypesFolder
from tests.trees import write_tree

LOADER = '@server\nasync def load(request):\n    return {"title": "x", "user": who(request)}\n\n\n'
WHO = "def who(request):\n    return request.state.user\n\n\n"
VIEW = "export default function Page({ data }) {\n  return <p>{data.%s}</p>;\n}\n"


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.output


@pytest.mark.node
def test_problems_have_their_places_and_the_exit_code_says_so(tmp_path: Path) -> None:
    page = "pages/(group of pages)/[id]/index.fxl"
    write_tree(tmp_path, {page: WHO + LOADER + VIEW % "titel"})
    code, output = run("typecheck", "--root", str(tmp_path), "--json")
    [problem] = json.loads(output)["problems"]

    assert code == 1
    assert (problem["path"], problem["line"], problem["column"]) == (str(tmp_path / page), 11, 19)
    assert problem["message"] == "there is no 'titel' in data"
    write_tree(tmp_path, {page: WHO + LOADER + VIEW % "title"})
    assert run("typecheck", "--root", str(tmp_path))[0] == 0


@pytest.mark.node
def test_what_check_finds_in_client_halves_weighs_the_same_where_types_are_checked(
    tmp_path: Path,
) -> None:
    form = 'import { Form } from "fx/client";\n\n'
    form += "export default function Page() {\n  return <Form %s />;\n}\n"
    add = "import attrs\n\n\n@attrs.define\nclass New:\n    title: str\n\n\n"
    add += "@action\nasync def add(request, new: New):\n    return {}\n\n\n"
    card = 'import { Crad } from "../components/card.jsx";\n\n'
    files = {
        "components/card.jsx": "export function Card() {\n  return <p />;\n}\n",
        "pages/action.fxl": add + form % 'action="ad"',
        "pages/exported.fxl": card + VIEW % "a" + "\nexport const more = Crad;\n",
        "pages/twice.fxl": "const one = 1;\nconst one = 2;\n\n" + VIEW % "a",
    }
    write_tree(tmp_path, files)
    places = {"pages/action.fxl:17:23", "pages/exported.fxl:1:10", "pages/twice.fxl:1:7"}

    def reported(*command: str) -> dict[str, tuple[str, str]]:
        problems = json.loads(run(*command, "--root", str(tmp_path), "--json")[1])["problems"]
        found = {
            f"{Path(one['path']).relative_to(tmp_path)}:{one['line']}:{one['column']}": one
            for one in problems
        }
        assert len(found) == len(problems)
        return {place: (one["severity"], one["message"]) for place, one in found.items()}

    checked, typed, both = reported("check"), reported("typecheck"), reported("check", "--types")

    assert set(checked) == places
    assert {severity for severity, _ in checked.values()} == {"error"}
    assert {place: one for place, one in typed.items() if place in places} == checked
    assert {place: one for place, one in both.items() if place in places} == checked


@pytest.mark.node
def test_paths_limit_the_report_to_their_files(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": WHO + LOADER + VIEW % "titel",
            "pages/a/index.fxl": WHO + LOADER + VIEW % "usr",
            "pages/b/index.fxl": WHO + LOADER + VIEW % "title",
        },
    )
    here = "--root", str(tmp_path)
    code, output = run("typecheck", str(tmp_path / "pages/index.fxl"), *here)

    assert code == 1
    assert "'titel'" in output
    assert "'usr'" not in output
    code, output = run("typecheck", str(tmp_path / "pages/b"), *here)
    assert (code, "The types of 1 file fit." in output) == (0, True)
    code, output = run("typecheck", str(tmp_path.parent), *here)
    assert (code, "is not in" in output) == (2, True)


@pytest.mark.node
def test_strict_names_unknown_types_and_the_remedy(tmp_path: Path) -> None:
    socket = "async def websocket(ws):\n    await ws.accept()\n\n\n"
    write_tree(tmp_path, {"pages/index.fxl": WHO + socket + LOADER + VIEW % "title"})
    connected = 'const fixed = "/";\nuseWebSocket(fixed);\nuseWebSocket(\n  path,\n);\n'
    raw = "import json\n\n\n" + LOADER.replace("who(request)", 'json.loads("1")')
    others = {"pages/other.fxl": VIEW % "any" + connected, "pages/raw.fxl": raw + VIEW % "user"}
    write_tree(tmp_path, others)
    code, output = run("typecheck", "--root", str(tmp_path), "--strict")

    assert code == 1
    assert "pages/index.fxl:2:12: data.user may be anything" in output
    assert "pages/index.fxl:5:11: a message of the WebSocket may be anything" in output
    assert "Write 'ws: WebSocket[Message]'" in output
    assert "pages/other.fxl:7:3: what this WebSocket sends may be anything: its path" in output
    assert output.count("its path is unknown here") == 1
    assert (
        "pages/raw.fxl:6:35: data.user may be anything: json.loads() says nothing of what it "
        "returns. Annotate what it comes from: a name ('rows: list[Row] = …'), or" in output
    )
    annotated = raw.replace("    return", "    user: dict[str, int] = json.loads('{}')\n    return")
    annotated = annotated.replace('json.loads("1")}', "user}")
    write_tree(tmp_path, {"pages/raw.fxl": annotated + VIEW % "user"})
    assert "raw.fxl" not in run("typecheck", "--root", str(tmp_path), "--strict")[1]


@pytest.mark.node
async def test_fx_check_reports_each_mistake_once(tmp_path: Path) -> None:
    page = 'import { Lnik } from "fx/client";\n\n' + VIEW % "titel}{<Lnik />"
    write_tree(tmp_path, {"pages/index.fxl": WHO + LOADER + page})
    look = partial(check, tmp_path, app="", report=print)
    with trio.fail_after(120):
        before = (await look()).problems
        after = (await look(types=True)).problems

    assert [(one.line, one.column) for one in before] == [(10, 10)]
    assert [(one.line, one.column) for one in after] == [(10, 10), (13, 19)]


@pytest.mark.node
def test_pages_that_do_not_parse_are_named_and_hide_nothing(tmp_path: Path) -> None:
    files = {
        "pages/index.fxl": LOADER.replace("who(request)", "1") + VIEW % "titel",
        "pages/python.fxl": LOADER.replace("(request)", "(request", 1) + VIEW % "titel",
        "pages/bracket.fxl": VIEW % "(title",
        "pages/ui.fxl": VIEW.replace("return", "const = 5;\n  return") % "titel",
        "pages/typed.fxl": "const size: number = ;\n" + VIEW % "titel",
        "pages/plain.fxl": "const size: number = 1;\n" + VIEW % "titel",
    }
    write_tree(tmp_path, files)
    code, output = run("typecheck", "--root", str(tmp_path), "--json")
    found = [(one["path"], one["line"], one["column"]) for one in json.loads(output)["problems"]]

    assert code == 1
    assert [(Path(path).name, line, column) for path, line, column in found] == [
        ("bracket.fxl", 2, 19),
        ("index.fxl", 7, 19),
        ("plain.fxl", 3, 19),
        ("python.fxl", 2, 15),
        ("typed.fxl", 1, 22),
        ("ui.fxl", 2, 9),
    ]


async def test_what_stays_the_same_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    async def compile_types(folder: Path, program: Path) -> tuple[compiler.Diagnostic, ...]:
        compiled.append(folder.name)
        return ()

    monkeypatch.setattr(checking, "compile_types", compile_types)
    typed = "export default function Page({ data }: { data: any }) {\n  return <p />;\n}\n"
    folder = TypesFolder(tmp_path, tmp_path)
    types = ProjectTypes((PageTypes("pages/index.fxl", "page"), PageTypes("pages/t.fxl", "page")))
    check = checking.TypeCheck(folder)

    async def run(ui: str) -> list[str]:
        write_tree(tmp_path, {"pages/index.fxl": ui, "pages/t.fxl": typed})
        project = check_project(tmp_path, Config())
        folder.note_typed(half for half in folder.halves(project, types) if "t.fxl" in half.source)
        compiled.clear()
        await check.run(project, types)
        return sorted(compiled)

    found = [await run(VIEW % "a"), await run(VIEW % "b"), await run(VIEW % "b")]
    check.forget()

    assert found == [["loose", "strict"], ["loose"], []]
    assert await run(VIEW % "b") == ["loose", "strict"]


def test_files_that_stay_the_same_are_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_into: list[str] = []

    def counted(root: Path, path: Path, text: str) -> bool:
        looked_into.append(path.name)
        return write_text(root, path, text)

    monkeypatch.setattr(text_files, "write_text", counted)
    types = ProjectTypes((PageTypes("pages/a.fxl", "page"), PageTypes("pages/b.fxl", "page")))
    folder = TypesFolder(tmp_path, tmp_path)

    def write(word: str) -> list[str]:
        write_tree(tmp_path, {"pages/a.fxl": VIEW % word, "pages/b.fxl": VIEW % "b"})
        looked_into.clear()
        folder.write_tier("loose", folder.halves(check_project(tmp_path, Config()), types), types)
        return looked_into

    assert len(write("one")) > 2
    assert write("one") == []
    assert write("two") == ["a.fxl.jsx"]
    declared = folder.path / "loose/client.d.ts"
    declared.unlink()
    assert write("two") == ["client.d.ts"]
    write_whole(declared, b"of another process")
    assert write("two") == ["client.d.ts"]


@pytest.mark.node
def test_results_with_other_declarations_of_fxtrio_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older fxtrio has written `.fx`; the compiler misses changes of global declarations."""
    page = "pages/index.fxl"
    last = (
        "export default function Page({ data }) {\n  return <p>{data.title.at(0).lenth}</p>;\n}\n"
    )
    write_tree(tmp_path / "app", {page: LOADER.replace('"x"', '["x"]') + WHO + last})
    older = tmp_path / "older"
    shutil.copytree(JS / "types", older / "types")
    shutil.copytree(JS / "client", older / "client")
    lenient = older / "types/lenient.d.ts"
    text = lenient.read_text("utf-8")
    lenient.write_text(text.replace("at(index: number): T;", "at(index: number): any;"), "utf-8")

    def found_with(place: Path) -> tuple[list[int], list[Path]]:
        monkeypatch.setattr(compiler_settings, "JS", place)
        compiler_settings.build_info.cache_clear()
        _, output = run("typecheck", "--root", str(tmp_path / "app"), "--json")
        results = sorted((tmp_path / "app" / virtual_project.FOLDER / "loose").glob("build*.json"))
        return [one["line"] for one in json.loads(output)["problems"]], results

    tolerant, [first_results] = found_with(older)
    lenient.write_text(text, "utf-8")
    exact, [last_results] = found_with(older)

    assert (tolerant, exact) == ([], [11])
    assert first_results != last_results


@pytest.mark.node
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("declared.d.ts", "declare const VERSION: { %s: string };\n"),
        ("declared.ts", "declare global { const VERSION: { %s: string } }\nexport const a = 1;\n"),
    ],
)
def test_a_change_of_global_names_is_seen_in_files_that_do_not_import_them(
    file: str, text: str, tmp_path: Path
) -> None:
    uses = "const shown: string = VERSION.name;\n" + VIEW.replace("data.%s", "shown")
    pages = {"pages/index.fxl": f'import "../{file}";\n' + uses, "pages/other.fxl": uses}
    write_tree(tmp_path, {**pages, file: text % "name"})

    def places() -> list[tuple[str, int]]:
        _, output = run("typecheck", "--root", str(tmp_path), "--json")
        found = json.loads(output)["problems"]
        return [(Path(one["path"]).name, one["line"]) for one in found]

    assert places() == []
    write_tree(tmp_path, {file: text % "title"})
    assert places() == [("index.fxl", 2), ("other.fxl", 1)]
    write_tree(tmp_path, {file: text % "name"})
    assert places() == []


@pytest.mark.node
def test_declaration_files_of_a_project_are_known_without_an_import(tmp_path: Path) -> None:
    uses = "const shown: string = VERSION.%s;\n" + VIEW.replace("data.%s", "shown")
    files = {
        "env.d.ts": '/// <reference types="a" />\ndeclare const VERSION: { a: string };\n',
        "node_modules/other/index.d.ts": "declare const VERSION: { b: string };\n",
        "pages/index.fxl": uses % "a",
        "pages/other.fxl": uses % "b",
    }
    write_tree(tmp_path, files)
    _, output = run("typecheck", "--root", str(tmp_path), "--json")
    found = json.loads(output)["problems"]
    assert [(Path(one["path"]).name, one["line"]) for one in found] == [("other.fxl", 1)]


@pytest.mark.node
def test_a_module_makes_names_known_to_all_halves(tmp_path: Path) -> None:
    view = "export default function Page() {\n  return <p>{APP.length + shared.a}</p>;\n}\n"
    typed = 'import { one } from "../lib/global";\n\nconst n: number = one;\n\n'
    files = {
        "lib/global.ts": "export const one = 1;\n\ndeclare global {\n  const APP: string;\n"
        "  var shared: { a: number };\n}\n",
        "pages/index.fxl": view,
        "pages/typed.fxl": typed + view.replace("APP", "n + APP"),
    }
    write_tree(tmp_path, files)
    for command in ("check", "typecheck"):
        _, output = run(command, "--root", str(tmp_path), "--json")
        assert json.loads(output)["problems"] == []


@pytest.mark.node
@pytest.mark.parametrize("typed", ["", ": number"])
def test_undefined_names_are_reported_where_fx_check_reports_them(
    tmp_path: Path, typed: str
) -> None:
    page = """/* global declared */
const shared = { short, other: short };
function helper(a%s = start, { b = start } = {}) {
  return [...spread, a, b, ...spread];
}

export default function Page({ data }) {
  return (
    <Layout title={helper()}>
      <Layout>
        {listed.map((one) => <Card key={one} text={`${listed} ${one}`} />)}
      </Layout>
      <Parts.Title>a</Parts.Title> <Parts.Line />
      {typeof tested === "string" && tested} {declared} {shared.other}
    </ Layout>
  );
}
"""
    write_tree(tmp_path, {"pages/index.fxl": page % typed})
    places: list[list[tuple[int, int]]] = []
    for command in ("check", "typecheck"):
        _, output = run(command, "--root", str(tmp_path), "--json")
        found = json.loads(output)["problems"]
        places.append([(one["line"], one["column"]) for one in found])
    assert len(places[0]) == 13
    assert places[0] == places[1]


@pytest.mark.node
def test_the_type_of_a_name_that_is_not_there_is_no_test_of_it(tmp_path: Path) -> None:
    page = """const known: typeof absent = 1;

export default function Page(): any {
  return <p>{typeof tested === "string" && tested} {"string" === typeof other && other}</p>;
}
"""
    write_tree(tmp_path, {"pages/index.fxl": page})
    _, output = run("typecheck", "--root", str(tmp_path), "--json")
    found = json.loads(output)["problems"]
    assert [(one["line"], one["column"]) for one in found] == [(1, 21)]


@pytest.mark.node
@pytest.mark.parametrize("between", ["", "barrel.js"])
def test_a_plain_file_that_names_the_data_of_a_page_is_known_by_its_types(
    between: str, tmp_path: Path
) -> None:
    uses = "export default function Page({ data }) {\n  return <p>{titleOf(data).lenth}</p>;\n}\n"
    imported = f'import {{ titleOf }} from "../{between or "titles.js"}";\n'
    files = {
        "pages/index.fxl": LOADER + WHO + imported + uses,
        "barrel.js": 'export { titleOf } from "./titles.js";\n',
        "titles.js": '/** @param {import("fx/client").DataOf<"pages/index.fxl">} data */\n'
        "export const titleOf = (data) => data.title;\n",
    }
    write_tree(tmp_path, files)
    _, output = run("typecheck", "--root", str(tmp_path), "--json")
    lines = files["pages/index.fxl"].count("\n")
    assert [one["line"] for one in json.loads(output)["problems"]] == [lines - 1]


@pytest.mark.parametrize("word", ["one", "DataOf"])
def test_a_half_that_leaves_its_tier_changes_nothing_that_others_see(
    tmp_path: Path, word: str
) -> None:
    types = ProjectTypes((PageTypes("pages/a.fxl", "page"), PageTypes("pages/b.fxl", "page")))
    folder = TypesFolder(tmp_path, tmp_path)
    write_tree(tmp_path, {"pages/a.fxl": VIEW % "a", "pages/b.fxl": VIEW % word})
    stays, leaves = folder.halves(check_project(tmp_path, Config()), types)
    folder.write_tier("loose", [stays, leaves], types)

    assert folder.write_tier("loose", [stays], types).changed == {"tsconfig.json"}
    declared = (folder.path / "loose/client.d.ts").read_text()
    assert all((f'"{half.source}": ' in declared) == (word == "DataOf") for half in (stays, leaves))


def test_the_app_is_declared_again_only_where_its_types_or_what_halves_use_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared: list[str] = []

    def counted(*args: Any, **kwargs: Any) -> str:
        declared.append("app")
        return sockets_module(*args, **kwargs)

    monkeypatch.setattr(virtual_project, "sockets_module", counted)
    types = ProjectTypes((PageTypes("pages/a.fxl", "page"), PageTypes("pages/b.fxl", "page")))
    folder = TypesFolder(tmp_path, tmp_path)

    def write(word: str, types: ProjectTypes = types, others: Sequence[str] = ()) -> int:
        write_tree(tmp_path, {"pages/a.fxl": VIEW % word, "pages/b.fxl": VIEW % "b"})
        declared.clear()
        halves = folder.halves(check_project(tmp_path, Config()), types)
        folder.write_tier("loose", halves, types, others)
        return len(declared)

    assert [write(word) for word in ("one", "one", "two")] == [1, 0, 0]
    assert write("useLoader") == 1
    assert (write("two"), write("DataOf")) == (1, 1)
    assert write("DataOf", others=["/admin/*"]) == 1
    assert '"admin": ' in (folder.path / "loose/routes.d.ts").read_text()
    assert write("DataOf", replace(types), ["/admin/*"]) == 1


@pytest.mark.parametrize(
    ("installed", "own"), [(("react",), False), (("react", "react-dom"), True), ((), False)]
)
def test_half_of_the_types_of_react_are_not_mixed_with_those_of_the_compiler(
    tmp_path: Path, installed: tuple[str, ...], own: bool
) -> None:
    project, compiler = tmp_path / "project", tmp_path / "compiler"
    project.mkdir()
    for name in installed:
        (project / "node_modules/@types" / name).mkdir(parents=True)
    folder = TypesFolder(project, compiler)

    folder.write_tier("loose", (), ProjectTypes())

    settings = json.loads((folder.path / "loose/tsconfig.json").read_text())
    paths = settings["compilerOptions"]["paths"]
    types = (project if own else compiler) / "node_modules/@types"
    assert paths["react"] == [f"{types}/react"]
    assert paths["react-dom"] == [f"{types}/react-dom"]


@pytest.mark.parametrize(("version", "extended"), [("18.2.0", False), ("19.1.0", True)])
def test_old_types_of_react_are_not_extended(tmp_path: Path, version: str, extended: bool) -> None:
    package = json.dumps({"version": version})
    types = "node_modules/@types"
    write_tree(
        tmp_path, {f"{types}/react/package.json": package, f"{types}/react-dom/index.d.ts": ""}
    )
    folder = TypesFolder(tmp_path, tmp_path)

    folder.write_tier("loose", (), ProjectTypes())

    settings = json.loads((folder.path / "loose/tsconfig.json").read_text())
    assert ("react/jsx-runtime" in settings["compilerOptions"]["paths"]) is extended


async def test_a_compiler_that_fails_is_reported_and_not_in_a_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compile_types(folder: Path, program: Path) -> tuple[compiler.Diagnostic, ...]:
        raise compiler.CompilerFailed(1, "no memory")

    monkeypatch.setattr(checking, "compile_types", compile_types)
    write_tree(tmp_path, {"pages/index.fxl": VIEW % "a"})
    check = checking.TypeCheck(TypesFolder(tmp_path, tmp_path))
    types = ProjectTypes((PageTypes("pages/index.fxl", "page"),))
    with pytest.raises(compiler.CompilerFailed, match="no memory"):
        await check.run(check_project(tmp_path, Config()), types)


@pytest.mark.node
def test_a_build_writes_the_types(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": WHO + LOADER + VIEW % "title"})
    code, output = run("build", "--root", str(tmp_path))
    folder = tmp_path / ".fx" / "types"
    [page] = load_types((folder / "types.json").read_bytes()).pages

    assert code == 0, output
    assert page.source == "pages/index.fxl"
    assert (folder / "loose" / "pages" / "index.fxl.jsx").is_file()


@attrs.define
class Checked:
    """Stands in for the compiler and for the process that imports: counts the requests."""

    gathered: int = 0
    compiled: int = 0
    done: trio.Event = attrs.field(factory=trio.Event)

    async def ensure_compiler(self, report: object) -> Path:
        return Path()

    async def project_types(self, root: Path, project: CheckedProject) -> ProjectTypes:
        self.gathered += 1
        return ProjectTypes()

    async def run(self, project: CheckedProject, types: ProjectTypes) -> tuple[Problem, ...]:
        self.compiled += 1
        self.done.set()
        wrong = [page.module.source for page in project.pages if "titel" in page.ui]
        return tuple(Problem(source, 1, 1, "no titel", "Write title") for source in wrong)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Checked:
    monkeypatch.setattr(background_typecheck, "_LATER", 0)
    stand_in = Checked()
    monkeypatch.setattr(compiler, "ensure_compiler", stand_in.ensure_compiler)
    monkeypatch.setattr(
        gatherer_process.GathererProcess,
        "types",
        lambda stored, project: stand_in.project_types(stored.root, project),
    )
    monkeypatch.setattr(checking.TypeCheck, "run", lambda _, *args: stand_in.run(*args))
    return stand_in


async def test_fx_dev_checks_one_version_after_the_other(
    tmp_path: Path, stand_in: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[str] = []
    most = 0
    written = trio.Event()

    async def at_once(function: Callable[..., Any], *args: object) -> Any:
        return function(*args)

    async def write(project: CheckedProject, types: ProjectTypes) -> tuple[Problem, ...]:
        nonlocal most
        running.append(project.pages[0].ui)
        most = max(most, len(running))
        with trio.CancelScope(shield=True):  # as a thread that writes files
            await written.wait()
        running.pop()
        await trio.lowlevel.checkpoint()
        return await stand_in.run(project, types)

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)  # so that it is known what waits
    monkeypatch.setattr(checking.TypeCheck, "run", lambda _, *args: write(*args))
    async with trio.open_nursery() as nursery:
        typecheck = BackgroundTypecheck(tmp_path, nursery, print, NewProblems(print), _show_nothing)
        for text in (LOADER + VIEW % "title", LOADER + VIEW % "titel"):
            write_tree(tmp_path, {"pages/index.fxl": text})
            looked_at = CheckInput(check_project(tmp_path, Config()), Config(), {})
            typecheck.look_later(looked_at, after=0)
            await wait_all_tasks_blocked()
        written.set()

    assert (most, stand_in.compiled) == (1, 1)


async def test_a_file_of_the_types_that_cannot_be_written_does_not_end_fx_dev(
    tmp_path: Path, stand_in: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: checking.TypeCheck, *args: object) -> tuple[Problem, ...]:
        async with trio.open_nursery():
            raise FileNotFoundError(2, "No such file or directory", "p1.jsx")

    monkeypatch.setattr(checking.TypeCheck, "run", fail)
    messages: list[str] = []
    write_tree(tmp_path, {"pages/index.fxl": LOADER + VIEW % "title"})
    looked_at = CheckInput(check_project(tmp_path, Config()), Config(), {})
    async with trio.open_nursery() as nursery:
        typecheck = BackgroundTypecheck(
            tmp_path, nursery, messages.append, NewProblems(print), _show_nothing
        )
        typecheck.look_later(looked_at, after=0)

    [line] = messages
    assert line.startswith("The types are not checked.")
    assert "p1.jsx" in line


async def _show_nothing(problems: list[OverlayProblem]) -> None:
    pass


async def test_fx_dev_checks_the_newest_version_and_reads_python_only_when_it_is_new(
    tmp_path: Path, stand_in: Checked
) -> None:
    reported: list[str] = []
    displayed: list[list[OverlayProblem]] = []

    async def show(problems: list[OverlayProblem]) -> None:
        displayed.append(problems)

    async with trio.open_nursery() as nursery:
        typecheck = BackgroundTypecheck(
            tmp_path, nursery, print, NewProblems(lambda one: reported.append(str(one))), show
        )

        def save(text: str, *files: str, outline: str = "") -> None:
            write_tree(tmp_path, {"pages/index.fxl": text})
            outlines = {"pages/index.fxl": outline} if outline else {}
            looked_at = CheckInput(check_project(tmp_path, Config()), Config(), outlines)
            typecheck.look_later(looked_at, files)

        async def counted(text: str, *files: str, outline: str = "") -> tuple[int, int]:
            stand_in.done = trio.Event()
            save(text, *files, outline=outline)
            with trio.fail_after(20):
                await stand_in.done.wait()
            await wait_all_tasks_blocked()
            return stand_in.gathered, stand_in.compiled

        save(LOADER + VIEW % "title")
        assert await counted(LOADER + VIEW % "titel") == (1, 1)  # the latest wins
        assert await counted(LOADER + VIEW % "titel" + "\n// more\n") == (1, 2)
        save(LOADER + VIEW % "titel" + "\n// more\n", "styles.css", "pages/logo.svg")
        await wait_all_tasks_blocked()
        assert (stand_in.gathered, stand_in.compiled) == (1, 2)  # no type depends on these
        assert await counted(LOADER + VIEW % "titel" + "\n// more\n", "card.jsx") == (1, 3)
        assert await counted(LOADER + VIEW % "titel", "store.py") == (2, 4)
        assert await counted(WHO + LOADER + VIEW % "title", outline="a") == (3, 5)
        for words in ("// a\n", "// b\n", ""):
            save(WHO + LOADER + VIEW % "title" + words, outline="a")
            save(WHO + LOADER + VIEW % "title" + words, "styles.css", outline="a")
        await wait_all_tasks_blocked()
        assert (stand_in.gathered, stand_in.compiled) == (3, 5)  # other words have no types
        assert await counted(WHO + LOADER + VIEW % "title", "card.jsx", outline="a") == (3, 6)
        assert await counted(WHO + LOADER + VIEW % "titel", outline="b") == (3, 7)
        # What is shown there has a place.
        assert await counted(WHO + LOADER + VIEW % "titel" + "//", outline="b") == (3, 8)
        assert await counted(WHO + LOADER + VIEW % "title", outline="a") == (3, 9)

    assert len(reported) == 2
    assert [len(problems) for problems in displayed] == [1, 0, 1, 0]
