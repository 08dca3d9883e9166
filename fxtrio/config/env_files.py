"""`.env` and `.env.local` of a project: variables for the process; those that are set win.

The environment wins over ``.env.local``, which wins over ``.env``. Commands and
`fx.testing` read them; an app that another server runs has that server's environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from fxtrio.config.errors import ConfigInvalid, ConfigProblem
from fxtrio.errors import display_path

NAMES = (".env", ".env.local")
"""Later wins."""

SETTINGS = "FX_"
"""What the names of settings begin with."""


def read_env_files(root: Path) -> tuple[dict[str, str], tuple[ConfigProblem, ...]]:
    """Return what the files in ``root`` set, or nothing and the lines that cannot be read.

    ``${NAME}`` stands for the environment's value, else for one set further up.
    """
    texts: list[str] = []
    problems: list[ConfigProblem] = []
    for path in (root / name for name in NAMES):
        if not path.is_file():  # many have a folder .env, for their packages
            continue
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            problem = ConfigProblem(
                place=display_path(path), key="", cause=f"cannot be read: {error}"
            )
            problems.append(problem)
            continue
        texts.append(text)
        problems += _problems(text, display_path(path))
    usable = texts and not problems
    return _values("\n".join(texts)) if usable else {}, tuple(problems)


def load_env_files(root: Path, *, settings_only: bool = False) -> dict[str, str]:
    """Set what the files in ``root`` set and the process's environment does not.

    With ``settings_only`` all but settings is left out: other variables, such as
    ``NODE_OPTIONS``, let programs that are started run code. Returns what was set, for the
    whole process. Raises ConfigInvalid with every line that cannot be read, and sets nothing
    then.
    """
    values, problems = read_env_files(root)
    if problems:
        raise ConfigInvalid(problems)
    news = {
        name: value
        for name, value in values.items()
        if name not in os.environ and (name.startswith(SETTINGS) or not settings_only)
    }
    os.environ.update(news)
    return news


def renew_env_files(root: Path, before: Mapping[str, str]) -> dict[str, str]:
    """Set what the files in ``root`` set now, in place of what they have set ``before``.

    Returns and raises like `load_env_files`, which has returned ``before``.
    """
    _unset(before)
    return load_env_files(root)


@contextmanager
def env_files(root: Path) -> Iterator[None]:
    """Set the same for the length of a block. Raises like `load_env_files`."""
    news = load_env_files(root)
    try:
        yield
    finally:
        _unset(news)


def _unset(news: Mapping[str, str]) -> None:
    for name, value in news.items():
        if os.environ.get(name) == value:
            del os.environ[name]


def _problems(text: str, place: str) -> Iterator[ConfigProblem]:
    # Only projects that have such a file wait for this import.
    from dotenv.parser import parse_stream

    for found in parse_stream(StringIO(text)):
        written = found.original.string
        line = found.original.line + written[: len(written) - len(written.lstrip())].count("\n")
        if found.error:
            cause = "cannot be read. Write NAME=value, and quote a value of several words"
        elif found.key is not None and found.value is None:
            cause = f"{found.key!r} has no value. Write {found.key}=, or take the line out"
        elif "\0" in written:
            cause = "contains a NUL character, which no environment variable can contain. Remove it"
        else:
            continue
        yield ConfigProblem(place=place, key="", cause=cause, line=line, column=1)


def _values(text: str) -> dict[str, str]:
    from dotenv.main import DotEnv

    values = DotEnv(None, stream=StringIO(text), override=False).dict()
    return {
        name: value for name, value in values.items() if value is not None and "\0" not in value
    }
