"""What the compiler does for a project grows as the project does: counted, not timed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import attrs
import pytest
import trio
from msgspec.structs import replace

from fxtrio.compile.project import CheckedProject, CheckedTexts, check_project
from fxtrio.config import Config
from fxtrio.node import tool_environment
from fxtrio.tools.types.gather.gatherer_process import project_types
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.report.compiler import compiler_program, ensure_compiler
from fxtrio.tools.types.ui.client_types import Tier
from fxtrio.tools.types.ui.virtual_project import TypesFolder
from tests.trees import write_tree

PAGE = """@server
async def load(request):
    return {"id": "1", "title": "x"}


@action
async def add%(own)d(request, title: str):
    return {"id": 1}


import { Form, Link, navigate, useAction, useLoader } from "fx/client";

export default function Page({ data }%(typed)s) {
  const own = useAction("add%(own)d");
  const other = useAction("add%(other)d", { page: "/area%(other)d/7" });
  const loaded = useLoader(`/area%(other)d/${data.id}`);
  return (
    <section>
      <Link href={`/area%(own)d/${data.id}?tab=1`}>{data.title}</Link>
      <Link href="/area%(other)d/5" onClick={() => navigate("/picture%(other)d.png")}>x</Link>
      <Form action="add%(own)d">{own.error}</Form>
      <Form action="add%(other)d" page="/area%(other)d/7">{other.error}</Form>
      <Form method="get" action="/area%(other)d/1">{loaded.data?.title}</Form>
    </section>
  );
}
"""
TYPED = ": { data: { id: string; title: string } }"
GROUP = 10
"""Pages that name each other only (count)."""

FIRST = 10
"""Number of the first page: all have two digits, and their order is that of their numbers."""


def page_at(number: int, typed: str) -> str:
    other = number - number % GROUP + (number + 1) % GROUP
    return PAGE % {"own": number, "other": other, "typed": typed}


@attrs.frozen
class _Growing:
    """A project, and the first of its pages."""

    project: CheckedProject
    types: ProjectTypes
    folder: TypesFolder

    async def work(self, pages: int, tier: Tier) -> int:
        """Return how many types the compiler makes and instantiates for so many pages."""
        chosen = attrs.evolve(self.project, pages=self.project.pages[:pages])
        types = replace(self.types, pages=self.types.pages[:pages])
        halves = self.folder.halves(chosen, types)
        assert len(halves) == pages
        others = [f"/picture{number}.png" for number in range(FIRST, FIRST + pages)]
        self.folder.write_tier(tier, halves, types, others)
        command = [str(compiler_program(self.folder.compiler)), "-p", "tsconfig.json"]
        command += ["--extendedDiagnostics", "--singleThreaded", "--incremental", "false"]
        command += ["--tsBuildInfoFile", "null"]
        done = await trio.run_process(
            command,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
            cwd=self.folder.path / tier,
            env=tool_environment(),
        )
        output = done.stdout.decode()
        assert done.returncode == 0, output
        counts = dict(re.findall(r"^(Types|Instantiations): +(\d+)$", output, re.MULTILINE))
        return int(counts["Types"]) + int(counts["Instantiations"])


@pytest.mark.node
@pytest.mark.parametrize(("tier", "typed"), [("loose", ""), ("strict", TYPED)])
async def test_twice_as_many_pages_are_twice_the_work(
    tmp_path: Path, tier: Tier, typed: str
) -> None:
    pages = range(FIRST, FIRST + 40)
    write_tree(tmp_path, {f"pages/area{one}/[id].fxl": page_at(one, typed) for one in pages})
    project = check_project(tmp_path, Config())
    with trio.fail_after(100):
        types = await project_types(tmp_path, project)
        folder = TypesFolder(tmp_path, await ensure_compiler(print))
        growing = _Growing(project, types, folder)
        few, some, many = [await growing.work(pages, tier) for pages in (10, 20, 40)]
    for_each, later = (some - few) / 10, (many - some) / 20

    assert later < 1.02 * for_each
    assert for_each < 2000


async def test_a_save_is_read_and_the_other_pages_stay_as_they_were_read(tmp_path: Path) -> None:
    """What a check asks of each half is found once, as long as nothing changes it."""
    page = """import { Badge } from "./_badge";
const Title = ({ text }) => <h1>{text}</h1>;
export default () => <Title text="a" />;
export const Other = () => <Badge />;
"""
    files = {f"pages/{name}.fxl": page for name in ("one", "two")}
    write_tree(tmp_path, {**files, "pages/_badge.jsx": "export const Badge = () => <b />;\n"})
    texts = CheckedTexts()
    project = check_project(tmp_path, Config(), texts)
    types = ProjectTypes(tuple(PageTypes(one.module.source, "page") for one in project.pages))
    folder = TypesFolder(tmp_path, tmp_path)

    def read(project: CheckedProject) -> dict[str, tuple[object, object]]:
        return {
            half.source: (half.components, half.imported_tags.of("Badge"))
            for half in folder.halves(project, types)
        }

    before = read(project)
    (tmp_path / "pages/one.fxl").write_text(page.replace('"a"', '"b"'))
    after = read(check_project(tmp_path, Config(), texts, {"pages/one.fxl"}))

    assert before["pages/two.fxl"][0] and before["pages/two.fxl"][1]
    for number in (0, 1):
        assert after["pages/two.fxl"][number] is before["pages/two.fxl"][number]
        assert after["pages/one.fxl"][number] is not before["pages/one.fxl"][number]
