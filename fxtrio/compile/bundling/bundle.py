"""Bundling: staged page files in, hashed files for the browser and one SSR bundle out.

Vite does the work in a child process (`fxtrio/js/vite/build.js`). It reads the UI
halves from ``<staging>/ui/<source>.tsx`` and writes ``<staging>/client`` and
``<staging>/ssr``. Called by `build`.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import attrs
import trio

from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundleProblem, BundlerCrashed
from fxtrio.compile.bundling.early_bundler import EarlyBundler, start_bundler
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem
from fxtrio.errors import display_path
from fxtrio.manifest import ScriptsMode, ViewKind

log = logging.getLogger("fx.build")

_TAIL = 4000  # Characters of the bundler's output that an error shows.


@attrs.frozen(kw_only=True)
class BundleView:
    """What can be rendered: a page, error or not-found file inside its layouts."""

    id: int
    """Index in `BundlePlan.views`, and the page number in SSR frames."""

    kind: ViewKind
    module: str
    """Source of the innermost file."""

    layouts: tuple[tuple[str, bool], ...] = ()
    """Source of each layout and template, and whether it is a template; outermost first."""

    loading: str | None = None
    """Source of the `loading.fxl` that stands in while the page loads."""

    boundaries: tuple[int, ...] = ()
    """Ids of the error views that may stand in, nearest first."""

    scripts: ScriptsMode = "auto"
    """What the nearest of its files says of scripts."""


@attrs.frozen(kw_only=True)
class BundlePlan:
    """What to bundle."""

    root: Path
    """The project folder."""

    staging: Path
    """The build folder that is being written; holds ``ui/<source>.tsx`` for each module."""

    base: str = "/_fx/"
    """URL prefix of the hashed files: the base URL and ``_fx/``."""

    mode: Literal["production", "development"]
    """Decides which build of React is taken, for good."""

    modules: tuple[str, ...]
    """Sources of all `.fxl` files of the app."""

    views: tuple[BundleView, ...]

    seed: str = ""
    """Mixed into the build id: a digest of server halves and settings."""


@attrs.frozen(kw_only=True)
class FileAssets:
    """URLs of one module and of what it needs."""

    module: str
    css: tuple[str, ...] = ()
    """Stylesheets, those of imported modules first."""

    preload: tuple[str, ...] = ()
    """Modules that it imports."""


@attrs.frozen
class ScriptReason:
    """Why a view needs scripts: what in its code may do more in a browser than its HTML."""

    path: str
    """Of the file, relative to the project."""

    line: int
    column: int
    """Both 1-based."""

    cause: str
    """Such as ``onClick``."""

    def __str__(self) -> str:
        """Return ``path:line: cause``."""
        return f"{self.path}:{self.line}: {self.cause}"


@attrs.frozen
class IslandUse:
    """An ``<Island>`` of a view, and what browsers load for it."""

    path: str
    """Of the file, relative to the project."""

    line: int
    column: int
    """Both 1-based."""

    when: str
    """``load``, ``idle`` or ``visible``, as far as it is written down."""

    key: str
    """Of its component: the path of the module, ``#`` and the name of the export."""

    files: tuple[str, ...]
    """URLs: its module, and what that imports besides what all islands load."""

    def __str__(self) -> str:
        """Return ``path:line: what``."""
        return f"{self.path}:{self.line}: <Island when={self.when}> of {self.key.split('#')[0]}"


@attrs.frozen(kw_only=True)
class BundleResult:
    """What was written."""

    build_id: str
    """Of 16 hex characters; differs when the output or the seed does."""

    entry: FileAssets
    """What every document starts with."""

    files: dict[str, FileAssets]
    """By source."""

    clients: tuple[dict[str, Any], ...]
    """By view id: the ``page`` object of its states, `View.client` of the manifest.

    ``{build, module, layouts: [{module, template?}], css?, preload?, loading?: {module, depth},
    boundaries?: [{module, depth, css?}]}``; modules, css and preload are URLs, ``depth`` is the
    number of layouts that stay around a stand-in. Lists that would be empty are left out.
    """

    server: str
    """Name of the server bundle: of a script, or of an ES module where its code needs that.

    "" in `fx dev`, which makes none.
    """

    loads: bool = False
    """Whether the server bundle has been loaded; if not, it may load or not."""

    scripts: tuple[tuple[ScriptReason, ...], ...] = ()
    """By view id: none for a view that needs no scripts. Empty in development."""

    islands: tuple[tuple[IslandUse, ...], ...] = ()
    """By view id. Empty for an app without islands, and in development."""

    islands_entry: FileAssets | None = None
    """What brings islands to life; None for an app without."""

    island_mistakes: tuple[Problem, ...] = ()
    """What does not work in islands."""

    island_doubts: tuple[Problem, ...] = ()
    """What may not."""

    warnings: tuple[str, ...] = ()
    """What the bundler found odd, without colours."""


async def bundle(
    plan: BundlePlan, *, toolchain: Path, early: EarlyBundler | None = None
) -> BundleResult:
    """Bundle the UI of an app; ``toolchain`` comes from `ensure_toolchain`.

    ``early`` is a bundler where one has been started already. Cancelling it kills the bundler.
    Raises BundleFailed with every problem of the project's files, NodeMissing, and
    BundlerCrashed for a defect.
    """
    process = None if early is None else early.take(plan.root, toolchain)
    if process is None:
        process = start_bundler(plan.root, toolchain, plan.mode)
    # The pipes are of whoever takes it out: their numbers may be another's once they are closed.
    waiting = [process]

    def communicate(request: bytes) -> tuple[bytes, bytes]:
        return waiting.pop().communicate(request)

    try:
        request = json.dumps(encode_plan(plan, toolchain)).encode()
        # Left alone after a cancellation, it ends with the process.
        output, errors = await trio.to_thread.run_sync(communicate, request, abandon_on_cancel=True)
    finally:
        process.kill()  # which has ended, unless this was cancelled
        process.wait()
        with suppress(IndexError), waiting.pop():  # no thread has begun: closes the pipes
            pass
    printed = errors.decode("utf-8", "replace")
    if printed.strip():
        log.info("%s", printed.rstrip())
    result = _result(output)
    if process.returncode != 0 or result is None:
        raise BundlerCrashed(process.returncode, printed[-_TAIL:])
    if not result["ok"]:
        raise BundleFailed(tuple(_problem(found, plan.root) for found in result["problems"]))
    return read_result(result)


def read_result(result: dict[str, Any]) -> BundleResult:
    """Return what a bundler has answered to a plan, as `Result` of plan.d.ts."""
    return BundleResult(
        build_id=result["buildId"],
        server=result["server"],
        entry=_file(result["entry"]),
        files={source: _file(assets) for source, assets in result["files"].items()},
        clients=tuple(result["clients"]),
        loads=result.get("loads", False),
        scripts=tuple(
            tuple(ScriptReason(**reason) for reason in view) for view in result.get("scripts", ())
        ),
        islands=tuple(
            tuple(IslandUse(**{**use, "files": tuple(use["files"])}) for use in view)
            for view in result.get("islands", ())
        ),
        islands_entry=_file(result["islandsEntry"]) if result.get("islandsEntry") else None,
        island_mistakes=_problems(result.get("islandMistakes", ()), FindingKind.UI),
        island_doubts=_problems(result.get("islandDoubts", ()), FindingKind.LIKELY),
        warnings=tuple(result["warnings"]),
    )


def _problems(found: Iterable[dict[str, Any]], kind: FindingKind) -> tuple[Problem, ...]:
    return tuple(sorted({Problem(**one, kind=kind) for one in found}))


def encode_plan(plan: BundlePlan, toolchain: Path) -> dict[str, Any]:
    """Return the plan as bundlers read it in JSON (`fxtrio/js/vite/plan.d.ts`)."""
    return {
        "root": plan.root.resolve().as_posix(),
        "staging": plan.staging.resolve().as_posix(),
        "base": plan.base,
        "mode": plan.mode,
        "modules": plan.modules,
        "views": [attrs.asdict(view) for view in plan.views],
        "toolchain": toolchain.as_posix(),
        "python": sys.executable,
        "seed": plan.seed,
    }


def _result(output: bytes) -> dict[str, Any] | None:
    """Return the last line of the bundler's output; None when it is no result."""
    lines = output.splitlines()
    try:
        result = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return result if isinstance(result, dict) and "ok" in result else None


def _problem(found: dict[str, Any], root: Path) -> BundleProblem:
    problem = BundleProblem(**found)
    return (
        attrs.evolve(problem, path=display_path(root / problem.path)) if problem.path else problem
    )


def _file(assets: dict[str, Any]) -> FileAssets:
    return FileAssets(
        module=assets["module"], css=tuple(assets["css"]), preload=tuple(assets["preload"])
    )
