"""What a reader does on each page beside its commands: where he is, and what is there already.

The pages that are not here need no more than a project of `fx init`, with their files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

from fxtrio.compile.publish.page_weights import require_budget, weigh_pages
from fxtrio.jobs.schema import make_tables
from fxtrio.manifest import FOLDERS, load_manifest
from tests.convert import next_app, pyxle_app
from tests.convert.support import committed
from tests.db.cluster import running_cluster
from tests.db.engines import opened
from tests.docs.commands.reader import Reader
from tests.docs.commands.shell import shell_blocks
from tests.docs.pages import ROOT, documents, name
from tests.docs.projects import write_all
from tests.realtime.redis_server import RedisServer
from tests.trees import write_tree

Read = Callable[[Reader], None]

PASSWORD = "correct horse battery"
KEY = "a-key-for-tests-that-is-long-enough"

WITH_SCRIPTS = {
    "assistant": 78_000,
    "chat": 78_500,
    "guestbook": 84_500,
    "notes": 78_500,
    "workshop": 81_500,
}
WITHOUT = 2_000
"""What a page of an example may load: compressed bytes of scripts and stylesheets."""

SIGN = """
import attrs

@attrs.frozen
class Entry:
    name: str

@action
async def sign(request, entry: Entry):
    return {"name": entry.name}

export default () => <p>Home</p>;
"""

STARLETTE = """
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("Hello"))])
"""

COMPONENT_TEST = """
import { render, screen } from "@testing-library/react";
import { createElement } from "react";
import { expect, test } from "vitest";

test("it is shown", () => {
  render(createElement("p", null, "Hello"));
  expect(screen.getByText("Hello")).toBeTruthy();
});
"""

PAGES = [
    name(page)
    for page in [
        *documents(),
        *sorted(ROOT.glob("examples/*/README.md")),
        *sorted(ROOT.glob("fxtrio/starter/*/*.md")),
    ]
    if "decisions" not in page.parts and shell_blocks(page)
]
"""The pages with commands."""

SESSIONS: dict[str, tuple[str, ...]] = {}
"""The pages that are read one after the other in one terminal, by the name of their function."""

READ: dict[str, Read] = {}


def session(*pages: str) -> Callable[[Read], Read]:
    """Let a function read these pages."""

    def define(read: Read) -> Read:
        SESSIONS[read.__name__] = pages
        READ[read.__name__] = read
        return read

    return define


@contextmanager
def stores() -> Iterator[dict[str, str]]:
    """Run PostgreSQL and Redis; yield the settings that name them."""
    with tempfile.TemporaryDirectory() as folder, running_cluster() as cluster:
        redis = RedisServer(Path(folder))
        redis.start()
        try:
            yield {
                "FX_DATABASE__URL": cluster.new_database(),
                "FX_REALTIME__BROKER": redis.url,
            }
        finally:
            redis.kill()


@session(
    "README.md",
    "fxtrio/starter/base/README.md",
    "fxtrio/starter/base/AGENTS.md",
    "docs/guides/deployment.md",
    "fxtrio/starter/docker/README.md",
)
def shop(reader: Reader) -> None:
    """The project of the README, and what its own README, its agents and its operators run."""
    clone = reader.clone()
    reader.go(clone)
    reader.open("README.md")
    reader.run(3)
    shop = reader.here
    reader.go(clone)
    reader.run_all()
    reader.go(shop)
    reader.open("fxtrio/starter/base/README.md")
    reader.run_all()
    reader.open("fxtrio/starter/base/AGENTS.md")
    reader.run_all()
    reader.open("docs/guides/deployment.md")
    reader.env["FX_DATABASE__URL"] = "sqlite:///data/app.db"  # the app has migrations
    reader.run()
    # As the page says: an environment that has only what an app needs, here that of the demo.
    reader.type(f'export PATH="{clone}/.nox/demo/bin:$PATH"')
    reader.unset("PYTHONPATH")
    reader.run_all()
    reader.open("fxtrio/starter/docker/README.md")
    reader.run_all()


@session("CONTRIBUTING.md")
def contributing(reader: Reader) -> None:
    """The set-up of a contributor, whose environment has the packages of this one as well.

    The tests of which he runs some are also a part of this run: here each has few cases, in one
    process.
    """
    reader.env |= {"FXTRIO_TESTS": "short", "FXTRIO_TESTS_WORKERS": "1"}
    reader.env["UV_LINK_MODE"] = "symlink"  # else it copies all packages, where files are in memory
    reader.replaced["/tmp/shop"] = str(reader.folder / "shop")
    reader.open("CONTRIBUTING.md")
    reader.run(2)
    reader.update(reader.here)
    reader.unset("PIP_DRY_RUN")  # it is really installed, without what is in this environment
    needed = reader.folder / "needed"
    reader.type(f"pip install -q --target {needed} editables")  # what pip would fetch for its build
    reader.type(f'export PYTHONPATH="$PYTHONPATH:{needed}"')
    reader.unset("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS")
    reader.run_all()


@session("docs/tutorial.md")
def tutorial(reader: Reader) -> None:
    """A project from its first page to the server."""
    reader.clone()
    reader.open("docs/tutorial.md")
    reader.run()
    reader.write(until_here=True)
    reader.type("fx db up")  # `fx dev` does so, which runs meanwhile
    reader.answers = f"{PASSWORD}\n{PASSWORD}\n"
    reader.run()
    reader.write(until_here=True)
    (reader.here / "tests/test_notes.py").unlink()
    assert " passed" in reader.run()
    reader.run()


@session("docs/guides/api-tokens.md")
def api_tokens(reader: Reader) -> None:
    """Requests of `curl` to a server that has one account."""
    reader.make_project()
    reader.open("docs/guides/api-tokens.md")
    reader.write()
    reader.type("fx db up")
    reader.answers = f"{PASSWORD}\n{PASSWORD}\n"
    reader.type("fx auth create-user ada@example.org")
    with reader.serving():
        assert '"text":"Buy milk"' in reader.run().replace(": ", ":")


@session("docs/guides/security.md")
def security(reader: Reader) -> None:
    """Requests of `curl` to an action, with a token."""
    reader.make_project()
    reader.open("docs/guides/security.md")
    (reader.here / "pages/index.fxl").write_text(SIGN)
    with reader.serving():
        assert '"ok":true' in reader.run().replace(": ", ":")


@session("docs/guides/content.md")
def content(reader: Reader) -> None:
    """The stylesheet of code in Markdown."""
    reader.make_project()
    reader.open("docs/guides/content.md")
    reader.write()
    reader.run_all()


@session("docs/guides/database.md")
def database(reader: Reader) -> None:
    """Backups of a database that was in use."""
    (reader.folder / "backups").mkdir()
    reader.replaced["/backups/"] = f"{reader.folder}/backups/"
    reader.make_project(database=True)
    reader.type("fx db up")
    reader.open("docs/guides/database.md")
    reader.run_all()


@session("docs/guides/from-next.md")
def from_next(reader: Reader) -> None:
    """A project of Next.js."""
    reader.go(committed(reader.folder / "acme", next_app.FILES))
    reader.open("docs/guides/from-next.md")
    reader.run_all()


@session("docs/guides/from-pyxle.md")
def from_pyxle(reader: Reader) -> None:
    """A project of Pyxle."""
    reader.go(committed(reader.folder / "board", pyxle_app.FILES))
    reader.open("docs/guides/from-pyxle.md")
    reader.run_all()


@session("docs/guides/frontend.md")
def frontend(reader: Reader) -> None:
    """Tailwind, and a test of a component."""
    reader.make_project()
    (reader.here / "components/one.test.js").write_text(COMPONENT_TEST)
    reader.open("docs/guides/frontend.md")
    reader.run_all()


@session("docs/guides/jobs.md")
def jobs(reader: Reader) -> None:
    """Jobs that a process of their own runs, and some that have failed."""
    reader.make_project(database=True)
    reader.open("docs/guides/jobs.md")
    reader.write()
    reader.type("fx db up")
    reader.run()
    trio.run(fail_jobs, reader.here)
    reader.run()


async def fail_jobs(root: Path) -> None:
    """Write down seven jobs that have failed."""
    async with opened("file", root) as database:
        await make_tables(database)
        for order in range(7):
            await database.execute(
                "insert into fx_jobs (name, queue, args, state, due, made, ended, error)"
                " values ('receipts.send_receipt', 'mail', $1, 'failed', 0, 0, 0, 'no order')",
                f"[{order}]",
            )


@session("docs/guides/openapi.md")
def openapi(reader: Reader) -> None:
    """The document of a project, and clients that are generated from it."""
    reader.make_project()
    reader.open("docs/guides/openapi.md")
    reader.write()
    reader.run_all()


@session("docs/guides/recipes.md")
def recipes(reader: Reader) -> None:
    """A debugger that can attach."""
    reader.make_project()
    reader.open("docs/guides/recipes.md")
    reader.run_all()


@session("docs/guides/several-machines.md")
def several_machines(reader: Reader) -> None:
    """One machine of several, with PostgreSQL and Redis."""
    reader.make_project(accounts=True)
    reader.open("docs/guides/several-machines.md")
    reader.write()
    reader.replaced["…"] = KEY
    with stores() as urls:
        reader.env |= urls
        reader.run_all()


@session("docs/guides/static-export.md")
def static_export(reader: Reader) -> None:
    """The pages of the guide as files."""
    reader.open("docs/guides/static-export.md")
    write_all(reader.folder, ROOT / "docs/guides/static-export.md")
    reader.run_all()


@session("docs/reference/config.md")
def config(reader: Reader) -> None:
    """Settings in the environment, and in a file of variables."""
    reader.make_project()
    reader.open("docs/reference/config.md")
    reader.exported = True
    reader.run()
    assert "/shop" in reader.type("fx config")
    reader.run_all()
    assert "Shop" in reader.type("fx config")


@session("docs/reference/server.md")
def server(reader: Reader) -> None:
    """An application of Starlette."""
    write_tree(reader.folder, {"shop/main.py": STARLETTE})
    reader.open("docs/reference/server.md")
    reader.run_all()


@session("docs/compare/index.md", "docs/examples.md")
def examples(reader: Reader) -> None:
    """A clone of the repository, whose examples are compared and served."""
    clone = reader.clone()
    for page in SESSIONS["examples"]:
        reader.go(clone)
        reader.open(page)
        reader.run_all()


def example(folder: str) -> None:
    """Define the session of an example, whose pages must be within its budget."""
    page = f"examples/{folder}/README.md"

    def read(reader: Reader) -> None:
        reader.go(reader.clone())
        reader.open(page)
        reader.run()
        build = reader.here / FOLDERS["production"]
        weights = weigh_pages(build, load_manifest(build))
        require_budget(weights, WITH_SCRIPTS[folder])
        require_budget([page for page in weights if not page.script.raw], WITHOUT)
        if folder == "workshop":
            reader.go(reader.clone())
            with stores() as urls:
                reader.replaced["postgresql://workshop@db/workshop"] = urls["FX_DATABASE__URL"]
                reader.replaced["redis://redis"] = urls["FX_REALTIME__BROKER"]
                reader.run_all()

    read.__name__ = folder
    session(page)(read)


for _readme in sorted(ROOT.glob("examples/*/README.md")):
    example(_readme.parent.name)


@session(*(page for page in PAGES if not any(page in pages for pages in SESSIONS.values())))
def others(reader: Reader) -> None:
    """Pages whose commands need no more than a project."""
    reader.make_project()
    for page in SESSIONS["others"]:
        reader.open(page)
        reader.run_all()
