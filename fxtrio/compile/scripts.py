"""Which views load scripts: what their files say, and what the bundler has proved. Pure.

`fxtrio/js/scripts/` looks for reasons why a view needs scripts. Called by builds for production;
in development every page has scripts, with which it is updated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from fxtrio.compile.bundling.bundle import BundleResult, IslandUse, ScriptReason
from fxtrio.compile.problems import Problem
from fxtrio.manifest import Manifest, PageModule, ScriptsMode, View

REASONS = "scripts.json"
"""The file of a build with the reasons of each view, by the number of the view."""

_PARTS = "its page is sent in parts, which a script puts in their places"
_ALWAYS = "SCRIPTS = 'always'"


def without_scripts(
    views: Sequence[View], modules: Mapping[str, PageModule], result: BundleResult
) -> tuple[View, ...]:
    """Return the views; those that need no scripts say so, to their links as well."""
    if not result.scripts:
        return tuple(views)
    return tuple(
        view
        if script_reasons(view, modules, result.scripts[view.id])
        else replace(view, scripts=False, client=_without_scripts(view, modules, result))
        for view in views
    )


def _without_scripts(
    view: View, modules: Mapping[str, PageModule], result: BundleResult
) -> dict[str, Any]:
    islands = islands_of(view, result)
    extra: dict[str, Any] = {}
    if islands:
        extra["islands"] = {one.key: list(one.files) for one in islands}
    if scripts_mode(view.module, view.layouts, modules)[0] == "none":
        extra["never"] = True
    return {**view.client, "scripts": False, **extra}


def islands_of(view: View, result: BundleResult) -> tuple[IslandUse, ...]:
    """Return the islands of a view."""
    return result.islands[view.id] if result.islands else ()


def script_reasons(
    view: View, modules: Mapping[str, PageModule], proof: Sequence[ScriptReason]
) -> list[ScriptReason]:
    """Return why a view has scripts, ``proof`` being what its code needs them for."""
    mode, source = scripts_mode(view.module, view.layouts, modules)
    if mode == "always":
        return [ScriptReason(source, 1, 1, _ALWAYS), *proof]
    return [ScriptReason(view.module, 1, 1, _PARTS), *proof] if view.streams else [*proof]


def required_scripts(manifest: Manifest, result: BundleResult) -> list[Problem]:
    """Return a problem for each reason of a view whose files demand that it has no scripts."""
    found = {}
    for view in manifest.views if result.scripts else ():
        mode, source = scripts_mode(view.module, view.layouts, manifest.modules)
        if mode != "none":
            continue
        reasons = script_reasons(view, manifest.modules, result.scripts[view.id])
        islands = (
            ScriptReason(one.path, one.line, one.column, "an <Island>")
            for one in islands_of(view, result)
        )
        for one in (*reasons, *islands):
            remedy = "Remove it, or write SCRIPTS = 'auto'"
            message = f"{one.cause}: needs scripts, but {source} has SCRIPTS = 'none'"
            found[one] = Problem(one.path, one.line, one.column, message, remedy)
    return list(found.values())


def dump_reasons(manifest: Manifest, result: BundleResult) -> bytes:
    """Return the reasons of all views as JSON, in the form ``path:line: cause``.

    Those of a view without scripts are its islands.
    """
    by_view = {}
    for view in manifest.views if result.scripts else ():
        reasons = script_reasons(view, manifest.modules, result.scripts[view.id])
        listed = dict.fromkeys(map(str, reasons or islands_of(view, result)))
        by_view[view.id] = list(listed)
    return json.dumps(by_view, indent=1).encode() + b"\n"


def scripts_mode(
    module: str, layouts: Sequence[str], modules: Mapping[str, PageModule]
) -> tuple[ScriptsMode, str]:
    """Return what the nearest file says, and which; "auto" where none does."""
    for source in (module, *reversed(layouts)):
        mode = modules[source].scripts
        if mode is not None:
            return mode, source
    return "auto", ""
