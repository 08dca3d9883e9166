"""Each command of the documentation is one that this version has, with these options.

Those in blocks are also run (`tests/docs/commands/`).
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click
import pytest

from fxtrio.cli.group import main
from fxtrio.plugins.auth.commands import make_commands
from fxtrio.plugins.auth.service import AuthService
from tests.docs.commands.shell import commands, shell_lines
from tests.docs.pages import ROOT, documents, name
from tests.source_tree import MODULES

PAGES = [
    *documents(),
    ROOT / "benchmarks/README.md",
    *sorted(ROOT.glob("examples/*/README.md")),
]

OTHERS = frozenset(
    {
        *("apt-get", "bash", "cd", "curl", "git", "jq", "kill", "npm", "npx"),
        *("openapi-python-client", "pygmentize", "pytest", "python", "rm", "setsid", "source"),
    }
)
"""Programs of others, whose options are theirs. A name that is not here is a misspelt one."""

FILES = frozenset({"dockerfile", "ini", "json", "toml", "yaml", "yml"})
"""Languages of files that contain commands."""

INVENTED = "fx graph"
"""The command that does not exist, of an example for contributors."""

_FENCE = re.compile(r"^( *)(```|~~~)(\w*)[^\n]*\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_ELSEWHERE = re.compile(r"(?:^|[/ \"'])fx ([a-z][a-z-]*(?: [^\"'\n&|;`)]+)?)", re.MULTILINE)


def mistakes(words: list[str]) -> Iterator[str]:
    """Yield what is wrong with one command."""
    program, *arguments = words[1:] if words[0] in ("sudo", "exec") else words
    match Path(program).name:
        case "fx":
            yield from mistakes_of_fx(arguments)
        case "pip":
            extras = re.findall(r"\[([\w,]+)\]", " ".join(arguments))
            requested = {extra for names in extras for extra in names.split(",")}
            yield from (f"no extra {extra!r}" for extra in sorted(requested - EXTRAS))
        case "nox":
            named = [after for before, after in pairwise(arguments) if before == "-s"]
            yield from (f"no session {one!r}" for one in named if one not in SESSIONS)
        case "python" if arguments[:1] == ["-m"]:
            module = arguments[1]
            if module not in MODULES and find_spec(module) is None:
                yield f"no module {module!r}"
        case "cd" if "/" in arguments[0] and not (ROOT / arguments[0]).is_dir():
            yield f"no folder {arguments[0]!r}"
        case other if other not in OTHERS:
            yield f"unknown program {other!r}"


def mistakes_of_fx(arguments: list[str]) -> Iterator[str]:
    """Yield what the parser of `fx` rejects; values need not be valid, as in ``--workers N``."""
    command: click.Command = main
    context = click.Context(main)
    rest = arguments
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = AUTH if rest[0] == "auth" else command.get_command(context, rest[0])
        if found is None:
            yield f"no command {' '.join(arguments)!r}"
            return
        command, rest = found, rest[1:]
        context = click.Context(command, info_name="fx")
    try:
        _, left, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        if "requires an argument" not in error.format_message():  # prose names options alone
            yield error.format_message()
        return
    if left and not isinstance(command, click.Group):
        yield f"too many arguments: {left}"


def fx_commands(text: str) -> Iterator[str]:
    """Yield the commands of `fx` in code within prose, and in files such as a Dockerfile."""
    for code in _CODE.findall(_FENCE.sub("", text)):
        if code.startswith("fx ") and code != INVENTED:
            yield code
    for _, _, language, block in _FENCE.findall(text):
        if language in FILES:
            yield from (f"fx {found}" for found in _ELSEWHERE.findall(block))


EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
)
SESSIONS = {
    match[0] or match[1]
    for match in re.findall(
        r"@nox\.session(?:\(name=\"([\w-]+)\"[^\n]*\))?\ndef (\w+)",
        (ROOT / "noxfile.py").read_text("utf-8"),
    )
} | {f"tests-3.{minor}" for minor in range(11, 15)}


def unavailable() -> AbstractAsyncContextManager[AuthService]:
    """Open no accounts: commands are parsed here, and not run."""
    raise AssertionError("a command was run")


AUTH = make_commands(unavailable)
"""The commands of the plugin `auth`, which `fx` has in projects that use it."""


def test_commands_in_blocks_exist() -> None:
    found = [
        f"{name(page)}: {line}: {mistake}"
        for page in PAGES
        for line in shell_lines(page)
        for words in commands(line)
        for mistake in mistakes(words)
    ]

    assert found == []


def test_commands_of_fx_in_prose_and_files_exist() -> None:
    found = [
        f"{name(page)}: {text}: {mistake}"
        for page in PAGES
        for text in fx_commands(page.read_text("utf-8"))
        for mistake in mistakes_of_fx(shlex.split(text, comments=True)[1:])
    ]

    assert found == []


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("fx dev && fx biuld", "no command 'biuld'"),
        ("fx jobs lsit", "no command 'jobs lsit'"),
        ("FX_NAME=shop fx serve --wrokers 2", "No such option '--wrokers'"),
        ('export FX_SECRET_KEY="$(fx sekret)"', "no command 'sekret'"),
        ("fx init shop store", "too many arguments: ['store']"),
        ("sudo fxx dev", "unknown program 'fxx'"),
        ("pip install 'fxtrio[nodes]'", "no extra 'nodes'"),
        ("nox -s test", "no session 'test'"),
        ("python -m tests.nothing", "no module 'tests.nothing'"),
        ("cd examples/nothing", "no folder 'examples/nothing'"),
    ],
)
def test_a_command_that_does_not_exist_is_found(line: str, mistake: str) -> None:
    (found,) = [one for words in commands(line) for one in mistakes(words)]

    assert found.startswith(mistake)
