"""`fx init`: a new project from the files of `fxtrio/starter/`.

`base` is every project's; the other folders hold what the option of their name adds to it.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import click
from rich.text import Text

from fxtrio.cli.exit_codes import INTERRUPTED
from fxtrio.cli.output import console, print_done
from fxtrio.config import CONFIG_FILE
from fxtrio.errors import PlacedError, display_path

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_RENAMED = {"gitignore": ".gitignore", "dockerignore": ".dockerignore", "mcp.json": ".mcp.json"}
"""Files that would have an effect on this repository under their own name."""

_STYLES, _PARTS = "pages/styles.css", "pages/parts.css"
_PARTS_IMPORT = re.compile(r'^import "(?:\./|@/pages/)parts\.css";\n', re.MULTILINE)
_CLASSES = "classes.json"
"""The classes of the starter's own stylesheets, and what takes their place with Tailwind."""

_QUESTIONS = {
    "database": "A database (SQLite, with migrations)?",
    "accounts": "Accounts (pages to register and to sign in)?",
    "tailwind": "Tailwind for styles (needs 'npm install')?",
    "typescript": "TypeScript (needs 'npm install')?",
    "docker": "A Dockerfile?",
}
"""What `fx init` asks in a terminal, by option and in this order."""

_WIDTH = 80
"""Of the lines of the UI, which `fx format` wraps (characters)."""

_ATTRIBUTE = re.compile(r' [\w-]+(?:=(?:"[^"]*"|\{(?:[^{}]|\{[^{}]*\})*\}))?')
_TAG = re.compile(
    rf"^(?P<indent> *)(?P<opening><[\w.]+(?:{_ATTRIBUTE.pattern})+)>"
    r"(?P<content>[^\n]*?)(?P<closing></[\w.]+>)?$",
    re.MULTILINE,
)

_SHADCN = "components.json"
_HALF = "half.fxl"
"""The Python half of the start page with a database."""

_RUN = "python /srv/run.py"
"""What runs commands of the app in the image."""

_WITH_PACKAGES = {
    "__NPM__": "COPY --from=node:22-slim /usr/local /usr/local\n",
    "__PACKAGES__": (
        "COPY package.json package-lock.json* ./\nRUN npm install --no-audit --no-fund\n"
    ),
}
"""What files for servers say where there is a `package.json`."""

_WITH_DATABASE = {
    "__DATA__": "RUN install -d -m 700 -o 10001 /srv/app/data\n",
    "__VOLUME__": '    volumes: ["data:/srv/app/data"]\n',
    "__VOLUMES__": "volumes:\n  data:\n",
    "__STATE__": (
        "StateDirectory=__NAME__\n"
        "Environment=FX_DATABASE__URL=sqlite:////var/lib/__NAME__/app.db\n"
        "ExecStartPre=/usr/bin/python3 /srv/__NAME__/run.py db up\n"
    ),
}
"""What they say where there is a database."""

_TYPED = {
    "pages/index.fxl": (
        ("import count\n", "import count\nfrom typing import TypedDict\n"),
        (
            "def note(text):",
            "class Note(TypedDict):\n    id: int\n    text: str\n    written: datetime\n\n\n"
            "def note(text: str) -> Note:",
        ),
        ("NOTES = []", "NOTES: list[Note] = []"),
        ("import { Form } from", "import { Form, type FormState } from"),
        ("fields, values })", "fields, values }: FormState)"),
    ),
    "pages/layout.fxl": (
        ("import { Link } from", "import { type LayoutProps, Link } from"),
        ("Layout({ children })", "Layout({ children }: LayoutProps)"),
    ),
    "components/local-time.jsx": (
        ("LocalTime({ value })", "LocalTime({ value }: { value: string })"),
    ),
}
"""What pages say where types are wanted, by file."""


class StarterClash(PlacedError):
    """`fx init` would overwrite files."""

    remedy = "Choose another name, or move them away"

    def __init__(self, folder: Path, files: tuple[str, ...]) -> None:
        super().__init__(display_path(folder), f"{', '.join(files)} exist already")


class StarterUnwritable(PlacedError):
    """`fx init` may not, or cannot, write there. The files that it had written were removed."""

    remedy = "Nothing was written: choose another folder, or correct its permissions"

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(display_path(folder), error.strerror or str(error))


@click.command
@click.argument("path", metavar="NAME")
@click.option("--accounts", is_flag=True, help="Pages to register and to sign in.")
@click.option("--database", is_flag=True, help="Notes in an SQLite database, with migrations.")
@click.option("--docker", is_flag=True, help="A Dockerfile and the files it needs.")
@click.option("--tailwind", is_flag=True, help="Styles with Tailwind; needs 'npm install'.")
@click.option("--typescript", is_flag=True, help="Modules in TypeScript, and types for editors.")
@click.option("-y", "--yes", is_flag=True, help="Ask no questions; add only named parts.")
def command(path: str, yes: bool, **options: bool) -> None:
    """Create the project NAME in a new folder.

    A path such as sites/shop works as well: its last part is the name. With '.' the
    current folder becomes the project. Existing files are never overwritten.

    In a terminal and without options, the command asks what to add.
    """
    folder = Path(path).resolve()
    name = folder.name if path else ""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r} is no project name: letters, digits, '-' and '_', a letter first.",
            param_hint="NAME",
        )
    if keyword.iskeyword(name):
        raise click.BadParameter(
            f"{name!r} is a word of Python's own, which no package can have as its name. "
            f"Take another one, such as '{name}-app'.",
            param_hint="NAME",
        )
    if not (yes or any(options.values())) and sys.stdin.isatty() and sys.stdout.isatty():
        _reject_clashes(folder, starter(name))  # before somebody answers in vain
        options = _ask(path)
    content = starter(name, **options)
    write_starter(folder, content)
    own = [path for path in content if not path.startswith(".fx/")]
    print_done(f"Created {name} with {len(own)} files.")
    _print_next_steps(folder, packages="package.json" in content, accounts=options["accounts"])


def _ask(path: str) -> dict[str, bool]:
    """Return what the user wants a project to have, by option; Enter leaves each out.

    Ends the command at Ctrl-C and Ctrl-D.
    """
    click.echo("What do you want to add to the project? Press Enter for no.\n")
    try:
        options = {option: click.confirm(text) for option, text in _QUESTIONS.items()}
    except click.Abort:
        click.echo("\nNothing was written.", err=True)
        raise SystemExit(INTERRUPTED) from None
    added = " ".join(f"--{option}" for option, wanted in options.items() if wanted)
    click.secho(f"\nThe same without questions: fx init {path} {added or '--yes'}\n", dim=True)
    return options


def write_starter(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write the files of a new project into ``folder``, all of them or none.

    Nothing is overwritten, and no link is followed below ``folder``: it may lead anywhere.
    Raises StarterClash and StarterUnwritable.
    """
    _reject_clashes(folder, content)
    created: list[Path] = []
    try:
        for path, data in content.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                created.append(target)
                file.write(data)
    except OSError as error:
        for written in created:
            written.unlink(missing_ok=True)
        raise StarterUnwritable(folder, error) from error


def _reject_clashes(folder: Path, content: Mapping[str, bytes]) -> None:
    """Raise StarterClash if a file of ``content`` would overwrite one."""
    clashing = {clash for path in content if (clash := _in_the_way(folder, path)) is not None}
    if clashing:
        raise StarterClash(folder, tuple(sorted(clashing)))


def _in_the_way(folder: Path, path: str) -> str | None:
    """Return what keeps a file from being written: itself, or a parent that is no folder."""
    parts = PurePosixPath(path).parts
    for count in range(1, len(parts) + 1):
        part = folder.joinpath(*parts[:count])
        if part.is_symlink() or (part.exists() and (count == len(parts) or not part.is_dir())):
            return "/".join(parts[:count])
    return None


def starter(
    name: str,
    *,
    accounts: bool = False,
    database: bool = False,
    docker: bool = False,
    tailwind: bool = False,
    typescript: bool = False,
) -> dict[str, bytes]:
    """Return the files of a new project: POSIX paths → content."""
    from fxtrio.compile.bundling.editor_types import CLIENT_TYPES, client_types

    found = _files_of("base")
    if database:
        added = _files_of("database")
        _, between, ui = found["pages/index.fxl"].partition(b"\n\nimport ")
        found["pages/index.fxl"] = added.pop(_HALF) + between + ui
        found = _joined(found, added)
    if accounts:
        found = _with_accounts(_joined(found, _files_of("accounts")))
    if docker:
        found = _joined(found, _files_of("docker"))
        found = _for_docker(
            found, accounts=accounts, database=database, packages=tailwind or typescript
        )
    if tailwind:
        found = _with_tailwind(found)
    if typescript:
        found = _typed(_joined(found, _files_of("typescript")))
        found[CLIENT_TYPES] = client_types()
        found.pop("jsconfig.json", None)
        if tailwind:
            found[_SHADCN] = found[_SHADCN].replace(b'"tsx": false', b'"tsx": true')
    return {
        path.replace("__NAME__", name): data.replace(b"__NAME__", name.encode())
        for path, data in found.items()
    }


def _files_of(part: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    _collect(files("fxtrio") / "starter" / part, "", found)
    return found


def _collect(folder: Traversable, prefix: str, found: dict[str, bytes]) -> None:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _collect(entry, f"{prefix}{entry.name}/", found)
        elif entry.is_file():
            found[prefix + _RENAMED.get(entry.name, entry.name)] = entry.read_bytes()


def _joined(found: dict[str, bytes], added: dict[str, bytes]) -> dict[str, bytes]:
    """Return both: texts follow each other, packages are listed together."""
    joined = dict(found)
    for path, data in added.items():
        if path == "package.json":
            joined[path] = _with_packages(joined.get(path, b"{}"), data)
        elif path == CONFIG_FILE:
            settings = {**json.loads(joined[path]), **json.loads(data)}
            joined[path] = json.dumps(settings, indent=2).encode() + b"\n"
        else:
            joined[path] = joined.get(path, b"") + data
    return dict(sorted(joined.items()))


def _replaced(text: bytes, *pairs: tuple[str, str]) -> bytes:
    for old, new in pairs:
        text = text.replace(old.encode(), new.encode(), 1)
    return text


def _with_accounts(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with the way to sign in beside the other links."""
    layout = _replaced(
        found["pages/layout.fxl"],
        (
            'from "fx/client";\n',
            'from "fx/client";\nimport { Account } from "@/components/account";\n',
        ),
        ("        </nav>", "          <Account />\n        </nav>"),
    )
    return {**found, "pages/layout.fxl": layout}


def _typed(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with types in their UI halves, and components in TypeScript."""
    typed = {path: _replaced(found[path], *pairs) for path, pairs in _TYPED.items()}
    whole = {**found, **typed}
    return {re.sub(r"^(components/.*)\.jsx$", r"\1.tsx", path): whole[path] for path in whole}


def _for_docker(
    found: dict[str, bytes], *, accounts: bool, database: bool, packages: bool
) -> dict[str, bytes]:
    serve = [*_RUN.split(), "serve", "--host", "0.0.0.0", "--workers", "auto"]
    if database:
        serve = ["sh", "-c", f"{_RUN} db up && exec {' '.join(serve)}"]
    texts = {
        "__COMMAND__": json.dumps(serve),
        "__EXTRAS__": "auth,node" if accounts else "node",
        **{name: text if packages else "" for name, text in _WITH_PACKAGES.items()},
        **{name: text if database else "" for name, text in _WITH_DATABASE.items()},
    }
    files = [*_files_of("docker"), "README.md"]
    return {**found, **{path: _replaced(found[path], *texts.items()) for path in files}}


def _with_packages(one: bytes, other: bytes) -> bytes:
    """Return a `package.json` that lists the packages of both."""
    listed: dict[str, Any] = {"private": True, "type": "module"}
    parts = [json.loads(text) for text in (one, other)]
    for kind in ("dependencies", "devDependencies"):
        packages = {name: version for part in parts for name, version in part.get(kind, {}).items()}
        if packages:
            listed[kind] = dict(sorted(packages.items()))
    return json.dumps(listed, indent=2).encode() + b"\n"


def _with_tailwind(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with Tailwind's classes in place of those of the starter's stylesheets."""
    added = _files_of("tailwind")
    classes = json.loads(added.pop(_CLASSES))

    def utilities(name: re.Match[str]) -> str:
        return f'className="{classes[name[1]]}"'

    for path, data in found.items():
        if PurePosixPath(path).suffix in (".fxl", ".jsx"):
            text = _PARTS_IMPORT.sub("", data.decode())
            text = re.sub(r'className="([^"]+)"', utilities, text)
            found[path] = _TAG.sub(_wrapped, text).encode()
    del found[_STYLES], found[_PARTS]
    return _joined(found, added)


def _wrapped(tag: re.Match[str]) -> str:
    """Return a line that begins with a tag as `fx format` would: utilities make lines long."""
    indent, opening, content, closing = (
        tag["indent"],
        tag["opening"],
        tag["content"],
        tag["closing"],
    )
    if len(tag[0]) <= _WIDTH:
        return tag[0]
    attributes = _ATTRIBUTE.findall(opening)
    if len(indent + opening) + 1 > _WIDTH and len(attributes) > 1:
        name = opening.split(maxsplit=1)[0]
        lines = [name, *(f"  {attribute.strip()}" for attribute in attributes)]
        opening = f"\n{indent}".join([*lines, ""])
    inner = f"\n{indent}  {content}\n{indent}" if content else ""
    return f"{indent}{opening}>{inner}{closing or ''}"


def _steps(*, packages: bool, accounts: bool) -> Iterable[tuple[str, str]]:
    if packages:
        yield "npm install", "fetch the packages that package.json lists"
    if accounts and find_spec("argon2") is None:
        yield 'pip install "fxtrio[auth]"', "fetch what accounts need"
    yield "fx dev", "serve it while you work on it"
    yield "fx check", "find mistakes without building"
    yield "fx build", "build it for production"
    yield "fx serve", "serve the build; needs FX_SECRET_KEY, see 'fx secret'"


def _print_next_steps(folder: Path, *, packages: bool, accounts: bool) -> None:
    out = console()
    out.print("\nNext:\n")
    if folder != Path.cwd():
        out.print(Text(f"  cd {shlex.quote(os.path.relpath(folder))}"))
    for line, purpose in _steps(packages=packages, accounts=accounts):
        out.print(Text(f"  {line:<13}", style="bold"), Text(purpose, style="dim"), sep="")
