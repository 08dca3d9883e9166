"""What UI halves say, as Node tells it (`fxtrio/js/editor/analyst.js`): a process for questions,
and one for checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import attrs
import trio
from pygls.exceptions import JsonRpcException

from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.bundling.toolchain import ToolchainFailed, ensure_toolchain
from fxtrio.compile.check.ui_code import ui_file, ui_problem
from fxtrio.compile.problems import Problem
from fxtrio.node import NodeMissing, find_node, tool_environment
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Position, Range
from fxtrio.tools.lsp.processes.supervised_process import SupervisedProcess
from fxtrio.tools.lsp.rpc import ConnectionLost

Kind = Literal["key", "variable", "action", "link"]
"""A variable is one that holds the value of a key."""


@attrs.frozen
class Use:
    """A place in a UI half that names something of elsewhere."""

    kind: Kind
    range: Range
    """Of the name alone, without quotes."""

    origin: tuple[str, ...] = ()
    """Of a key or variable: from the page's properties, or ``("action", name, "body" or "data")``.
    """

    shorthand: bool = False
    """Whether the key is a variable's name, too: ``{ posts }``."""

    name: str = ""
    """Of an action."""

    page: str | None = None
    """Path of the page that has the action; None for the page itself."""

    href: str = ""
    """Of a link: a path with ``{}`` for what only its run tells."""


@attrs.frozen
class Wanted:
    """The context of a completion, and which part of the half it would replace."""

    kind: Kind
    range: Range
    origin: tuple[str, ...] = ()


class Analyst:
    """Asks Node. Without Node or the toolchain UI halves stay unread, and that is reported."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._child: SupervisedProcess | None = None
        self._checks: SupervisedProcess | None = None
        self._settled = trio.Event()
        self._checked: dict[tuple[Path, str], tuple[dict[str, Any], list[Any]]] = {}
        """What was last found in a file, and what was looked at for it."""

    async def run(self) -> None:
        """Keep Node running, installing the toolchain first when it is missing."""
        try:
            toolchain = await ensure_toolchain(self._report)
            node = await trio.to_thread.run_sync(find_node)
        except (NodeMissing, ToolchainFailed) as error:
            self._report(f"Client code is not analyzed. {error}")
            self._settled.set()
            return
        command = [str(node.node), str(JS / "editor" / "analyst.js"), str(toolchain)]

        def child(name: str) -> SupervisedProcess:
            env = tool_environment()
            return SupervisedProcess(name, command, cwd=JS, env=env, report=self._report)

        # Checking a large page takes so long that no question should wait for it.
        self._child, self._checks = child("analyst of client code"), child("check of client code")
        self._settled.set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._checks.run, name="lsp.checks")
            nursery.start_soon(self._child.run, name="lsp.questions")

    async def problems(self, page: ParsedPage) -> list[Problem]:
        """Return the mistakes in the UI half of a page."""
        if not page.checked.whole:
            return []
        file, ui = (page.root, page.path), ui_file(page.checked)
        before = self._checked.get(file)
        if before is not None and before[0] == ui:
            return [ui_problem(one, page.source) for one in before[1]]
        checked = self._checked
        found = await self._ask("check", page, ui)
        if found is not None:
            checked[file] = ui, found
        return [ui_problem(one, page.source) for one in found or ()]

    async def uses(
        self, page: ParsedPage, *, position: Position | None = None, name: str | None = None
    ) -> tuple[Use, ...] | None:
        """Return the uses at a position, or of a name; a large page has more than a thousand.

        While the half does not parse, they are those that it had before, as far as their places
        are still there. None where it never did.
        """
        wanted = {"position": position, "name": name}
        present = {key: value for key, value in wanted.items() if value is not None}
        found = await self._ask("uses", page, present)
        return None if found is None else tuple(_use(one) for one in found)

    async def symbols(self, page: ParsedPage) -> list[dict[str, Any]]:
        """Return what a UI half declares; nothing while it does not parse.

        Each has ``name``, ``kind``, ``exported``, the ``range`` of the name, and the ``whole`` one.
        """
        return await self._ask("symbols", page, {}) or []

    async def symbols_of_module(
        self, root: Path, path: str, text: str
    ) -> list[dict[str, Any]] | None:
        """Return the same of a file of the project; None while nobody can tell."""
        found: list[dict[str, Any]] | None
        found = await self._request("symbols", root, path, {"text": text})
        return found

    async def wanted(self, page: ParsedPage, position: Position) -> Wanted | None:
        """Return the context of a completion at a position of the UI half."""
        found = await self._ask("wanted", page, {"position": position})
        if found is None:
            return None
        origin = tuple(found.get("origin") or ())
        return Wanted(found["kind"], found["range"], origin)

    async def closing(self, page: ParsedPage, position: Position) -> str | None:
        """Return what closes the tag whose ``>`` or ``</`` is in front of a position.

        None where nothing is missing, or where the half has further mistakes.
        """
        found: str | None = await self._ask("closing", page, {"position": position})
        return found

    async def linked(self, page: ParsedPage, position: Position) -> list[Range] | None:
        """Return the places of the two names of the element whose name is at a position."""
        found: list[Range] | None = await self._ask("linked", page, {"position": position})
        return found

    def changed(self, root: Path) -> None:
        """Tell that other files of a project may be new."""
        self._checked = {}
        if self._checks is not None:
            self._checks.notify("changed", {"root": root.as_posix()})

    async def _ask(self, method: str, page: ParsedPage, more: dict[str, Any]) -> Any:
        return await self._request(method, page.root, page.path, {"text": page.checked.ui, **more})

    async def _request(self, method: str, root: Path, path: str, more: dict[str, Any]) -> Any:
        """Return an answer; None without Node, and when it has died over this."""
        await self._settled.wait()
        child = self._checks if method == "check" else self._child
        if child is None:
            return None
        try:
            return await child.request(method, {"root": root.as_posix(), "path": path, **more})
        except (ConnectionLost, JsonRpcException) as error:
            self._report(f"{path}: its client code could not be looked at: {error}")
            return None


def _use(found: dict[str, Any]) -> Use:
    return Use(
        found["kind"],
        found["range"],
        tuple(found.get("origin") or ()),
        bool(found.get("shorthand")),
        found.get("name", ""),
        found.get("page"),
        found.get("href", ""),
    )
