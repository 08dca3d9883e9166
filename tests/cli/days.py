"""What happens to a project, its processes and the machine while somebody works on it.

Each day is a generator: it breaks something, yields, and puts it right again. `fx dev` must live
through all of them, one after the other, and show what is saved next.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import attrs
import httpx
import psutil

from tests.e2e.support import Server

Day = Callable[["Desk"], Iterator[None]]

DAYS: dict[str, Day] = {}
"""All of them, by name."""

ALWAYS = (
    "a_child_that_is_killed_while_files_change",
    "a_component_that_never_ends",
    "a_loader_that_never_ends",
    "a_name_that_is_no_text",
)
"""Those of every run of the tests; `nox -s days` has all of them."""

PAGE = "export default function Home() {\n  return <h1>%s</h1>;\n}\n"


@attrs.frozen
class Desk:
    """A project that `fx dev` serves."""

    project: Path
    server: Server

    def write(self, name: str, text: str | bytes) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def broken(self, name: str, text: str | bytes) -> Iterator[None]:
        """Write a file, and afterwards what it was before, or remove it."""
        path = self.project / name
        before = path.read_bytes() if path.is_file() else None
        self.write(name, text)
        yield
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)

    def moved(self, name: str) -> Iterator[None]:
        """Take a file or folder away, and put it back."""
        away = self.project.with_name("away")
        (self.project / name).rename(away)
        yield
        away.rename(self.project / name)

    def replaced(self, name: str, put: Callable[[Path], object]) -> Iterator[None]:
        """Put something else in the place of a file or folder."""
        path, away = self.project / name, self.project.with_name("away")
        path.rename(away)
        put(path)
        yield
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        away.rename(path)

    def ask(self, path: str = "/", seconds: float = 1.0) -> str:
        """Return what is answered, "" for nothing."""
        try:
            return httpx.get(self.server.url + path, timeout=seconds).text
        except httpx.HTTPError:
            return ""

    def process(self, *names: str) -> psutil.Process:
        """Return the process whose command line has one of ``names`` in it."""
        for number in range(1000):
            for child in psutil.Process(self.server.process.pid).children():
                with suppress(psutil.NoSuchProcess):  # a zombie, too
                    if any(name in " ".join(child.cmdline()) for name in names):
                        return child
            self.ask()
            self.write("pages/other.fxl", PAGE % number)  # it is started again then
        raise AssertionError(self.server.output())

    @property
    def app(self) -> psutil.Process:
        return self.process("child_process", "fxtrio dev")  # the second: it was forked

    @property
    def node(self) -> psutil.Process:
        return self.process("main.js", "/develop-")  # the second: its modules in one file


def day(function: Day) -> Day:
    DAYS[function.__name__] = function
    return function


def code(name: str, file: str, text: str) -> None:
    """A day on which a file has some text."""

    def one(desk: Desk) -> Iterator[None]:
        yield from desk.broken(file, text)

    DAYS[name] = one


code("an_app_that_raises", "app.py", "raise RuntimeError('broken')\n")
code("an_app_that_exits", "app.py", "import sys\nsys.exit('enough')\n")
code("an_app_that_ends_at_once", "app.py", "import os\nos._exit(3)\n")
code("an_app_that_kills_itself", "app.py", "import os, signal\nos.kill(os.getpid(), 9)\n")
code("an_app_with_a_syntax_error", "app.py", "def (\n")
code("an_app_without_an_app", "app.py", "x = 1\n")
code("an_app_that_recurses", "app.py", "def f(): f()\nf()\n")
code("an_app_that_never_ends", "app.py", "while True:\n    pass\n")
code("an_app_that_sleeps", "app.py", "import time\ntime.sleep(600)\n")
code("an_app_that_closes_files", "app.py", "import os\nos.closerange(3, 200)\n")
code("an_app_that_ignores_signals", "app.py", "import signal\nsignal.signal(15, signal.SIG_IGN)\n")
code("an_app_that_leaves_its_folder", "app.py", "import os\nos.chdir('/')\n")
code("an_app_that_says_much", "app.py", "for n in range(20000):\n    print('x' * 200)\n")
code("settings_that_are_half_written", "fx.config.json", '{"name": "sh')
code("settings_that_are_wrong", "fx.config.json", '{"timeouts": 5}')
code("settings_that_are_no_object", "fx.config.json", "[]")
code(
    "variables_that_are_no_text",
    ".env",
    "A=\udce4".encode("utf-8", "surrogateescape").decode("latin-1"),
)
code("a_page_that_is_empty", "pages/other.fxl", "")
code("a_page_without_sense", "pages/other.fxl", "<<<<<<< HEAD\n=======\n>>>>>>> x\n")
code("a_page_without_an_end", "pages/other.fxl", "export default () => <p>" * 2000)
code("two_pages_for_one_path", "pages/index/index.fxl", PAGE % "two")
code("packages_that_are_half_written", "package.json", '{"dependencies": {')
code("types_that_are_half_written", "tsconfig.json", "{")
code("styles_that_are_half_written", "pages/styles.css", "body { color: ")
code(
    "a_plugin_that_prints",
    "postcss.config.mjs",
    "process.stdout.write('noise\\n{}\\n[1]\\n');\nexport default { plugins: [] };\n",
)
code("a_plugin_that_throws", "postcss.config.mjs", "throw new Error('broken');\n")
code("a_module_that_exits", "pages/other.fxl", "import os\nos._exit(1)\n\n" + PAGE % "x")
code("a_rule_that_is_none", ".gitignore", "[\n!\n\\")


def loading(name: str, body: str) -> None:
    """A day on which the loader of a requested page does something."""

    def one(desk: Desk) -> Iterator[None]:
        text = f"import os, sys\n\n\n@server\nasync def load(request):\n    {body}\n\n{PAGE % 'x'}"
        desk.write("pages/other.fxl", text)
        for _ in range(100):
            if "def load" in text and "Not found" not in desk.ask("/other", 0.5):
                break
        yield
        desk.write("pages/other.fxl", PAGE % "x")

    DAYS[name] = one


loading("a_loader_that_never_ends", "while True: pass")
loading("a_loader_that_ends_the_process", "os._exit(1)")
loading("a_loader_that_exits", "sys.exit(1)")
loading("a_loader_that_is_interrupted", "raise KeyboardInterrupt")
loading("a_loader_that_closes_files", "os.closerange(3, 200)")
loading("a_loader_that_forks", "return {'pid': [os.fork() for _ in range(2)]}")
loading("a_loader_that_prints_bytes", "sys.stderr.buffer.write(bytes(range(256)) * 99)")


@day
def a_module_that_never_ends(desk: Desk) -> Iterator[None]:
    desk.write("pages/other.fxl", f"while True:\n    pass\n\n{PAGE % 'x'}")
    desk.ask("/other")
    yield
    desk.write("pages/other.fxl", PAGE % "x")


@day
def a_component_that_never_ends(desk: Desk) -> Iterator[None]:
    desk.write("pages/other.fxl", "export default function Other() {\n  for (;;);\n}\n")
    desk.ask("/other")
    yield
    desk.write("pages/other.fxl", PAGE % "x")


@day
def a_child_that_is_killed_while_files_change(desk: Desk) -> Iterator[None]:
    for number in range(5):
        app = desk.app
        desk.write("pages/other.fxl", f"N = {number}\n\n{PAGE % number}")
        with suppress(psutil.NoSuchProcess):  # replaced already, since app.py has changed
            app.kill()
        desk.write("app.py.new", (desk.project / "app.py").read_text() + f"\nN = {number}\n")
        (desk.project / "app.py.new").replace(desk.project / "app.py")
    yield


@day
def a_child_that_is_killed(desk: Desk) -> Iterator[None]:
    desk.app.kill()
    yield


@day
def a_child_that_is_stopped(desk: Desk) -> Iterator[None]:
    desk.app.send_signal(signal.SIGSTOP)
    desk.write("pages/other.fxl", f"N = 1\n\n{PAGE % 1}")
    yield


@day
def node_killed_again_and_again(desk: Desk) -> Iterator[None]:
    for _ in range(3):
        desk.node.kill()
        desk.ask()
    yield


@day
def node_stopped_for_a_while(desk: Desk) -> Iterator[None]:
    node = desk.node
    node.send_signal(signal.SIGSTOP)
    desk.write("pages/other.fxl", PAGE % "stopped")
    desk.ask()
    node.send_signal(signal.SIGCONT)
    yield


@day
def pages_removed(desk: Desk) -> Iterator[None]:
    yield from desk.moved("pages")


@day
def pages_that_are_a_file(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("pages", lambda path: path.write_text("x"))


@day
def a_page_that_is_a_folder(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("pages/about.fxl", Path.mkdir)


@day
def an_app_that_is_a_folder(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("app.py", Path.mkdir)


@day
def settings_that_are_a_folder(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("fx.config.json", Path.mkdir)


@day
def a_link_that_leads_to_itself(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("pages/about.fxl", lambda path: path.symlink_to(path))


@day
def a_link_that_leads_nowhere(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("pages/about.fxl", lambda path: path.symlink_to("/nowhere"))


@day
def a_pipe_among_pages(desk: Desk) -> Iterator[None]:
    yield from desk.replaced("pages/about.fxl", os.mkfifo)


@day
def a_name_that_is_no_text(desk: Desk) -> Iterator[None]:
    path = os.fsencode(desk.project / "pages") + b"/\xff.fxl"
    with open(path, "w") as file:  # noqa: PTH123 - a Path is text
        file.write(PAGE % "x")
    yield
    os.unlink(path)  # noqa: PTH108


@day
def the_build_removed(desk: Desk) -> Iterator[None]:
    shutil.rmtree(desk.project / ".fx")
    yield


@day
def a_file_in_place_of_the_build(desk: Desk) -> Iterator[None]:
    shutil.rmtree(desk.project / ".fx")
    desk.write(".fx", "x")
    desk.write("pages/other.fxl", PAGE % "no room")
    desk.ask()
    yield
    (desk.project / ".fx").unlink()


@day
def the_project_moved_away(desk: Desk) -> Iterator[None]:
    away = desk.project.with_name("away")
    desk.project.rename(away)
    desk.ask()
    yield
    away.rename(desk.project)


@day
def hundreds_of_saves(desk: Desk) -> Iterator[None]:
    for number in range(300):
        desk.write("pages/other.fxl", f"N = {number}\n\n{PAGE % number}")
    yield


@day
def hundreds_of_files(desk: Desk) -> Iterator[None]:
    for number in range(300):
        desk.write(f"pages/many/p{number}.fxl", PAGE % number)
    yield
    shutil.rmtree(desk.project / "pages/many")


@day
def too_few_descriptors(desk: Desk) -> Iterator[None]:
    process = psutil.Process(desk.server.process.pid)
    before = process.rlimit(resource.RLIMIT_NOFILE)
    process.rlimit(resource.RLIMIT_NOFILE, (process.num_fds() + 1, before[1]))
    desk.app.kill()
    desk.write("pages/other.fxl", f"N = 1\n\n{PAGE % 1}")
    desk.ask()
    yield
    process.rlimit(resource.RLIMIT_NOFILE, before)


@day
def a_full_disk(desk: Desk) -> Iterator[None]:
    process = psutil.Process(desk.server.process.pid)
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # as with no room for a byte
    desk.write("pages/other.fxl", f"N = 2\n\n{PAGE % 2}")
    desk.ask()
    yield
    process.rlimit(resource.RLIMIT_FSIZE, before)
