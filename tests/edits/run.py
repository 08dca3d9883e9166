"""Edits in a row: after each of them the content of all tabs is compared."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import attrs
import psutil
from playwright.sync_api import Browser, BrowserContext, Page

from tests.e2e.support import PATIENCE, Server, pause, serving
from tests.ports import free_port

from .mistakes import Mistake, make
from .project import Project, path_of, save, start
from .seen import READY, Wrong, differences, documents, wait_badge, wait_for_texts, wait_overlay
from .works import Author

OPEN = ("index", "shop/index", "shop/list")
"""The pages that stay open."""

RESTARTING = "↻ restarting"
"""What `fx dev` prints of a change that only another process can take over."""


@attrs.define
class Memory:
    """Proportional set sizes (MB) of the Python and the Node processes of `fx dev`."""

    python: float
    node: float

    @classmethod
    def of(cls, server: Server) -> Memory:
        """Measure."""
        parent = psutil.Process(server.process.pid)
        sizes = {"python": 0.0, "node": 0.0}
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # it has ended since: one that checks for mistakes
                kind = "node" if "node" in process.name().lower() else "python"
                sizes[kind] += process.memory_full_info().pss / 2**20
        return cls(**sizes)


@attrs.define
class Run:
    """One `fx dev` whose project is edited, and the browser pages that show it."""

    root: Path
    server: Server
    context: BrowserContext
    author: Author
    say: Callable[[str], None]
    saved: dict[str, str]
    tabs: dict[str, Page] = attrs.field(factory=dict)
    loads: int = 0
    """How often an open page has loaded its document anew."""

    def open_pages(self) -> None:
        """Show the pages that stay open."""
        for name in OPEN:
            page = self.context.new_page()
            page.on("load", lambda _: self._count())
            page.goto(self.server.url + path_of(name))
            page.wait_for_function(READY)
            self.tabs[name] = page
        self.loads = 0

    def _count(self) -> None:
        self.loads += 1

    def step(self) -> str:
        """Make one edit, with a mistake before it now and then; return what was done."""
        author = self.author
        mistake = make(author) if author.random.random() < 0.25 else None
        restarts = self.server.output().count(RESTARTING)
        if mistake is None:
            done = author.edit()
            restarts += "app.py" in self.save(done)
        else:
            done = self._err(mistake)
        self.compare()
        self._wait_restart(restarts)
        return done

    def _wait_restart(self, times: int) -> None:
        """Wait until the server process was replaced so often: a broken one keeps nothing."""
        give_up = time.monotonic() + PATIENCE / 1000
        while not has_restarted(self.server.output(), times):
            if time.monotonic() > give_up:
                raise Wrong("no process has started again")
            pause()

    def _err(self, mistake: Mistake) -> str:
        author = self.author
        title = f"{mistake.title} in {mistake.file}"
        author.project.broken[mistake.file] = (mistake.old, mistake.new)
        self.save(title)
        broken = [mistake.page] if mistake.page else self._pages_with(mistake.used)
        for name in broken:
            wait_overlay(self.tabs[name], f"{title}: the page {name}")
        if mistake.is_counted:
            for name in self.tabs.keys() - {*broken}:
                wait_badge(self.tabs[name], f"{title}: the page {name}")
        if mistake.page:
            path = path_of(mistake.page)
            status = documents(self.server.url, self.root, [path])[path]["status"]
            if status != mistake.status:
                raise Wrong(f"{title}: {path} is answered with {status}")
        fresh = self._fresh(broken[0])
        wait_overlay(fresh, f"{title}: a fresh document of {broken[0]}")
        author.project.broken.clear()
        self.save("that is put right")
        wait_for_texts(fresh, self._expected(broken[0]), f"{title}: that document, put right,")
        fresh.close()
        return title

    def _pages_with(self, used: str) -> list[str]:
        """Return the open pages that show a component, or the value of a Python module."""
        project = self.author.project
        return [name for name in self.tabs if project.shows(self._page_at(name), used)]

    def save(self, what: str) -> list[str]:
        """Write the files of the project as they are now; return those that differ."""
        now = self.author.project.texts()
        renaming = self.author.random.random() < 0.5
        files = save(self.root, self.saved, now, renaming=renaming)
        self.saved = now
        self.say(f"    {what}: {', '.join(files)}")
        return [*files]

    def compare(self) -> None:
        """Compare open pages, fresh documents and payloads. Raises Wrong."""
        project = self.author.project
        for name, page in self.tabs.items():
            wait_for_texts(page, self._expected(name), f"the open page {name}")
        name = self.author.random.choice(OPEN)
        fresh = self._fresh(name)
        wait_for_texts(fresh, self._expected(name), f"a fresh document of {name}")
        self._navigate(fresh, self.author.pick(project.pages()))
        fresh.close()
        for name, page in self.tabs.items():  # nothing comes after it has settled
            wait_for_texts(page, self._expected(name), f"the open page {name}, later")

    def _navigate(self, page: Page, name: str) -> None:
        """Go to a page from another one, within the document."""
        page.evaluate("(href) => window.navigateTo(href)", path_of(name))
        wait_for_texts(page, self._expected(name), f"{name}, when one goes there,")

    def _expected(self, name: str) -> list[str]:
        return self.author.project.texts_of(self._page_at(name))

    def _page_at(self, name: str) -> str:
        """Return the page at the path of a page that may have been deleted."""
        return name if name in self.author.project.views else "not-found"

    def _fresh(self, name: str) -> Page:
        page = self.context.new_page()
        page.goto(self.server.url + path_of(name))
        page.wait_for_function(READY)
        return page

    def compare_restarted(self, shadow: Path) -> None:
        """Compare all answers with those of a server that has just been started. Raises Wrong."""
        project = self.author.project
        paths = [path_of(name) for name in (*project.pages(), "nowhere", *OPEN)]
        save(shadow, _files(shadow), self.saved, renaming=False)
        port = free_port()
        command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
        with serving(command, shadow, port) as other:
            theirs = documents(other.url, shadow, paths)
            other.process.terminate()
            other.process.wait(20)
        found = differences(documents(self.server.url, self.root, paths), theirs)
        if found:
            raise Wrong("\n".join(found))


def has_restarted(output: str, times: int) -> bool:
    """Whether `fx dev` has replaced its process so often, and the last one serves."""
    last = max(map(output.rfind, (RESTARTING, "✓ compiled")))
    return output.count(RESTARTING) >= times and last < output.rfind("✓ started")


def _files(root: Path) -> dict[str, str]:
    """Return the files of a project that an edit may have written."""
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in root.rglob("*")
        if path.is_file()
        and path.suffix in (".py", ".fxl", ".jsx", ".css", ".json")
        and not path.relative_to(root).as_posix().startswith(".fx/")
    }


@contextmanager
def running(folder: Path, browser: Browser, seed: int, say: Callable[[str], None]) -> Iterator[Run]:
    """Serve the project in a new ``folder`` with `fx dev`, and open its pages."""
    project: Project = start()
    root = folder / "edited"
    texts = project.texts()
    save(root, {}, texts, renaming=False)
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, root, port) as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        author = Author(Random(seed), project, [*OPEN])
        run = Run(root, server, context, author, say, texts)
        run.open_pages()
        yield run
        context.close()
        server.process.terminate()
        server.process.wait(20)
