"""A reader of the documentation, who types the commands of a page into one terminal.

A block is run by bash as it is written, with these differences, which no reader would see:

- Other tests run beside it: a server gets a port of its own and is visited (`visit.py`), and
  addresses and folders that tests cannot have are replaced by those of `Reader.replaced`.
- `fx` and `pytest` are forked from a process that has imported them (`fx_server.py`).
- `python -m venv` copies no pip, which takes four seconds: each environment has a program that runs
  the pip of all.
- pip decides what to install, and builds the metadata of a clone, but installs nothing and looks
  at no dependency: the environment of the tests has all of it, and `nox -s package` installs it.
  It does so once for each list of arguments, and where there is uv, that does it: in a tenth of
  the time.
- npm takes packages from its cache first. apt-get simulates.
- Git takes the clone from this repository.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from fxtrio.cli.init import starter
from tests.docs.commands.shell import ShellBlock, commands, shell_blocks
from tests.docs.pages import ROOT, blocks, name
from tests.docs.projects import write
from tests.e2e.support import serving
from tests.ports import free_port

LIMIT = 300.0
"""How long the commands of a block may take (seconds)."""

REPOSITORY = "https://github.com/fxtrio/fxtrio"

NOT_RUN: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("not_run.toml").read_text("utf-8")
)["command"]
"""The commands that CI does not run: page, line and reason."""

LEFT_OUT = {(each["page"], each["line"]) for each in NOT_RUN}
"""The pages and lines that this run leaves out."""

PRELUDE = """
set -eo pipefail
visit() {{ {python} -P {visit} {port} "$@"; }}
[ ! -e {state} ] || source {state}
"""
PIP = """
done="{folder}/$(echo "$*" | cksum)"
[ ! -e "$done" ] || exit 0
if [ -n "{uv}" ] && [ -n "$PIP_DRY_RUN" ] && [ "$1" = install ]; then
  shift
  {uv} pip install --dry-run --no-deps --no-build-isolation --python {python} "$@"
else
  PYTHONPATH={folder}/pip:$PYTHONPATH {python} -m pip "$@"
fi && touch "$done"
"""
"""pip, which does the same thing once: it installs nothing."""

VENV = """
if [ "$1 $2" != "-m venv" ]; then exec {python} "$@"; fi
shift 2
{python} -m venv --without-pip "$@"
cat > "$1/bin/pip" <<END
#!/bin/sh
[ -z "\\$PIP_DRY_RUN" ] || exec {folder}/bin/pip "\\$@"
PYTHONPATH={folder}/pip:\\$PYTHONPATH exec "$(realpath "$1")/bin/python" -m pip "\\$@"
END
chmod +x "$1/bin/pip"
"""
"""python, which makes environments with a pip that is there already."""

FINALE = """
{{ export -p; printf 'cd %q\\n' "$PWD"; }} > {state}
"""


def is_server(words: list[str]) -> bool:
    """Return whether a command runs until somebody ends it."""
    program, rest = Path(words[0]).name, words[1:]
    match program:
        case "fx":
            return rest[:1] in (["dev"], ["serve"]) or rest[:2] == ["jobs", "work"]
        case "python":
            return "http.server" in rest or "serve" in rest
        case _:
            return words[:3] == ["nox", "-s", "demo"]


def visited(line: str) -> str:
    """Return a line whose last command is visited, if it is a server."""
    found = list(commands(line))
    if not found or not is_server(found[-1]):
        return line
    before, joint, server = line.rpartition(" && ")
    return f"{before}{joint}visit {server}"


@attrs.define
class Tools:
    """Programs and files that all readers of a test run share."""

    folder: Path

    @property
    def bin(self) -> Path:
        """The folder of programs that come first on the PATH."""
        return self.folder / "bin"

    @property
    def socket(self) -> Path:
        """Where `fx_server.running` shall listen."""
        return self.folder / "fx"

    @property
    def clone(self) -> Path:
        """A clone of the repository, for all readers."""
        return self.folder / "fxtrio"

    def prepare(self) -> None:
        """Write the programs, pip among them, which an environment of uv has not."""
        import ensurepip

        bundled = Path(ensurepip.__file__).with_name("_bundled")
        packaged = sysconfig.get_config_var("WHEEL_PKG_DIR")  # where Debian has them
        (wheel,) = Path(packaged or bundled).glob("pip-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / "pip")
        self.bin.mkdir()
        client = Path(__file__).with_name("fx_client.py")
        forked = f"exec {sys.executable} -IS {client} {self.socket}"
        uv = shutil.which("uv") or ""
        programs = {
            "fx": f'{forked} -m fxtrio "$@"',
            "pytest": f'{forked} -P -m pytest "$@"',
            "pip": PIP.format(folder=self.folder, python=sys.executable, uv=uv),
            "python": VENV.format(folder=self.folder, python=sys.executable),
            "sudo": 'exec "$@"',
        }
        for program, text in programs.items():
            (self.bin / program).write_text(f"#!/bin/sh\n{text}\n")
            (self.bin / program).chmod(0o755)
        (self.folder / "apt.conf").write_text('APT::Get::Simulate "true";\n')
        (self.folder / ".curlrc").write_text("fail\n")

    def environment(self) -> dict[str, str]:
        """Return the variables of a terminal."""
        path = [str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]]
        inherited = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("FX", "NOX", "PIP_", "PYTEST_", "VIRTUAL_ENV"))
        }
        return {
            **inherited,
            "PATH": os.pathsep.join(path),
            "APT_CONFIG": str(self.folder / "apt.conf"),
            "CURL_HOME": str(self.folder),
            "FX_COMPRESSION": "off",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{ROOT}.insteadOf",
            "GIT_CONFIG_VALUE_0": REPOSITORY,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those of our own tests
            "PYTEST_PLUGINS": "pytest_trio.plugin,fxtrio.simulation.pytest_plugin",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_DRY_RUN": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
            "PIP_NO_DEPS": "1",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_prefer_offline": "true",
            "npm_config_yes": "true",
            "PYTHONPATH": str(Path(attrs.__file__).parents[1]),  # what each environment needs
        }


@attrs.define
class Reader:
    """Reads pages in one terminal, block by block. Made by the fixture `reader`."""

    tools: Tools
    folder: Path
    """Where the terminal is at first; `repository` and projects are below."""

    env: dict[str, str]
    replaced: dict[str, str] = attrs.field(factory=dict)
    """What is written in the pages, and what stands for it here."""

    answers: str = ""
    """What the reader types at prompts."""

    exported: bool = False
    """Whether all variables that are set are exported, as those of an environment are."""

    ran: list[tuple[str, str]] = attrs.field(factory=list)
    """The pages and lines that were run."""

    _page: Path = ROOT
    _left: list[ShellBlock] = attrs.field(factory=list)
    _port: int = attrs.field(factory=free_port)
    _seen: set[tuple[Path, str]] = attrs.field(factory=set)

    @property
    def here(self) -> Path:
        """The folder that the terminal is in."""
        if not self._state.exists():
            return self.folder
        return Path(shlex.split(self._state.read_text().rpartition("\ncd ")[2])[0])

    def type(self, line: str) -> str:
        """Run a line that is in the text of a page, or goes without saying."""
        return self._bash(f"{line}\n")

    def unset(self, *variables: str) -> None:
        """Remove variables, in the terminal and where it comes from."""
        for variable in variables:
            del self.env[variable]
        self.type(shlex.join(["unset", *variables]))

    def go(self, folder: Path) -> None:
        """Change to a folder."""
        self.type(f"cd {shlex.quote(str(folder))}")

    def make_project(self, **options: bool) -> None:
        """Make the project that `fx init` makes, and go there."""
        for path, data in starter("shop", **options).items():
            (self.folder / "shop" / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "shop" / path).write_bytes(data)
        self.go(self.folder / "shop")

    def open(self, page: str) -> None:
        """Begin to read a page, when the one before has been read to its end."""
        self.close()
        self._page = ROOT / page
        self._left = shell_blocks(self._page)

    def close(self) -> None:
        """Require that the page was read to its end."""
        assert self._left == [], f"{self._page}: blocks that were not run"

    def clone(self) -> Path:
        """Return a clone of the repository, with the changes that are not committed yet."""
        folder = self.tools.clone
        if not folder.exists():
            self.type(f"git clone -q {REPOSITORY} {folder}")
            self.update(folder)
        self.replaced["/path/to/fxtrio"] = str(folder)
        return folder

    def update(self, clone: Path) -> None:
        """Give a clone what is not committed yet."""
        command = ["git", "-C", str(ROOT), "ls-files", "-mo", "--exclude-standard", "-z"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        for file in filter(None, listed.stdout.split("\0")):
            (clone / file).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / file).is_file():
                shutil.copy2(ROOT / file, clone / file)

    def write(self, *, until_here: bool = False) -> None:
        """Write the files of the page, or those before the next block of commands."""
        for block in blocks(self._page):
            if block.file and not (until_here and block.line > self._left[0].line):
                write(self.here, block)

    def run(self, count: int = 1) -> str:
        """Run the next blocks, and return what the last one has printed."""
        printed = ""
        for block in [self._left.pop(0) for _ in range(count)]:
            printed = self._run(block)
        return printed

    def run_all(self) -> None:
        """Run the blocks that are left."""
        self.run(len(self._left))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the project here for the length of the block, in another terminal."""
        self.type("fx build")
        command = [sys.executable, "-m", "fxtrio", "serve", "--port", str(self._port)]
        with serving(command, self.here, self._port, env=self.env):
            self.replaced["127.0.0.1:8000"] = f"127.0.0.1:{self._port}"
            yield

    def _run(self, block: ShellBlock) -> str:
        page = name(self._page)
        lines = []
        for line in block.lines:
            if (page, line) in LEFT_OUT:
                continue
            self.ran.append((page, line))
            if line.startswith("fx ") and (self.here, line) in self._seen:
                continue  # the same command in the same project
            self._seen.add((self.here, line))
            for written, here in self.replaced.items():
                line = line.replace(written, here)
            lines.append(visited(line))
        return self._bash("".join(f"{line}\n" for line in lines))

    @property
    def _state(self) -> Path:
        return self.folder / "terminal.sh"

    def _bash(self, script: str) -> str:
        names = {
            "python": shlex.quote(sys.executable),
            "visit": shlex.quote(str(Path(__file__).with_name("visit.py"))),
            "port": self._port,
            "state": shlex.quote(str(self._state)),
        }
        prelude = PRELUDE.format(**names) + "set -a\n" * self.exported
        script = f"{prelude}set -v\n{script}set +v{FINALE.format(**names)}"
        file = self.folder / "block.sh"
        file.write_text(script)
        process = subprocess.Popen(
            ["bash", str(file)],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(self.answers, LIMIT)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(LIMIT)
        assert process.returncode == 0, f"{name(self._page)}\n{printed}"
        return printed
