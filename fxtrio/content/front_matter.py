"""The front matter of a Markdown file: YAML between two lines ``---`` at its beginning. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime
from math import isfinite
from typing import Any

import attrs
import yaml

from fxtrio.content.mistakes import Mistake

_BLOCK = re.compile(r"---[ \t]*+\n(?>(?:(?!---[ \t]*+(?:\n|\Z))[^\n]*+\n)*)---[ \t]*+(?:\n|\Z)")
_YAML = "Write lines such as 'title: Hello'"


@attrs.frozen
class FrontMatter:
    """What a file says about itself."""

    values: dict[str, Any] = attrs.field(factory=dict)
    """Of JSON's types; dates and times are text in the form of ISO 8601."""

    lines: dict[str, int] = attrs.field(factory=dict)
    """The line (1-based) of each of its keys."""


def divide(text: str) -> tuple[str, str]:
    """Return the YAML of a file, and the rest, in which empty lines stand for it.

    ``text`` has plain line ends. The YAML is "" for a file without front matter.
    """
    found = _BLOCK.match(text)
    if found is None:
        return "", text
    block = found[0]
    inner = block.partition("\n")[2].rstrip("\n").rpartition("\n")[0]
    return inner, "\n" * block.count("\n") + text[found.end() :]


def read_front_matter(text: str) -> tuple[FrontMatter, list[Mistake]]:
    """Return the values of YAML that begins in the second line of its file, and its mistakes."""
    try:
        node, values = _read(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        cause = f"its front matter is not YAML: {error.problem or error.context}"
        return FrontMatter(), [Mistake(line + 2, cause, _YAML)]
    except (yaml.YAMLError, ValueError) as error:  # characters, and dates such as 2024-13-01
        cause = " ".join(str(error).split())
        return FrontMatter(), [Mistake(2, f"its front matter is not YAML: {cause}", _YAML)]
    if values is None:
        return FrontMatter(), []
    if not isinstance(values, dict):
        return FrontMatter(), [Mistake(2, "its front matter has no keys", _YAML)]
    lines = {key.value: key.start_mark.line + 2 for key, _ in node.value}
    mistakes = []
    for key, value in values.items():
        try:
            values[key] = _plain(value)
        except ValueError as error:
            mistakes.append(Mistake(lines[key], f"{key!r} {error}", "Write text or a number"))
    return FrontMatter(values, lines), mistakes


def _read(text: str) -> tuple[Any, Any]:
    """Return the only node of YAML, whose places are known, and its value; None without any.

    Reading takes much longer than all else about a file of Markdown, so it is done once for both.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _plain(value: Any) -> Any:
    """Return a value of YAML in JSON's types. Raises ValueError for what has none."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    raise ValueError(f"is {value!r:.40}, which JSON cannot represent")


class _Loader(yaml.SafeLoader):
    """YAML of JSON's types and dates, without aliases: a few of them could stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="YAML aliases are not supported", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                mark = key.start_mark
                raise yaml.MarkedYAMLError(problem="a key is not text", problem_mark=mark)
            if key.value in seen:
                problem = f"{key.value!r} is defined twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)
