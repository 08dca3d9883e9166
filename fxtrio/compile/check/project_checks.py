"""What lies around the pages of a project and cannot work: its packages, and files that nothing
reads. Called by `fx check`, `fx build` and `fx dev`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem, of_kind
from fxtrio.config import Config
from fxtrio.config.json_positions import key_places

_PACKAGE = "package.json"
_TYPESCRIPT = "tsconfig.json"
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"?+|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)')
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"?+|,(?=\s*+[}\]])')
_REMEDY_OF_JSON = "Look for a comma, colon or quote that is missing here or before it"
_PLAIN_RANGE = re.compile(r"[\^~=v]*(\d+)(\.(\d+|x|\*))*(-[\w.]+)?")
_VITE = re.compile(r"vite\.config\.[cm]?[jt]s")
_READS_VITE = re.compile(r"\b(vitest|storybook)\b")
_RUNS_VITE = re.compile(r"\bvite\b")
_RENAMED = {".pyxl": ".fxl"}
_CONFIG = {"pyxle.config.json": "fx.config.json"}
_OF_NEXT = {
    "next.config": "Remove it: settings are in fx.config.json",
    "middleware": "Remove it: name a route hook in 'routeMiddleware' of fx.config.json",
    "proxy": "Remove it: name a route hook in 'routeMiddleware' of fx.config.json",
    "instrumentation": "Remove it: write a plugin, whose 'open' runs at the start",
}
"""Files of Next.js beside the pages, without their ends."""

_SCRIPT = re.compile(r"\.[cm]?[jt]s")
_NEXT = re.compile(r"from\s+[\"']next(/|[\"'])|export\s+(async\s+)?function\s+(middleware|proxy)\b")


def surrounding_problems(root: Path, config: Config) -> list[Problem]:
    """Return the problems around the pages of the project in ``root``."""
    read = [_read_object(root, _PACKAGE), _read_object(root, _TYPESCRIPT, comments=True)]
    unread = [one for one in read if isinstance(one, Problem)]
    if unread:  # the bundler reads them for each module
        return of_kind(FindingKind.UI, unread)
    text, package = cast("tuple[str, dict[str, Any]]", read[0])
    return of_kind(
        FindingKind.AROUND,
        [
            *_package_problems(root, text, package),
            *_unread(root, package),
            *_of_next(root, config),
            *_misnamed(root, config),
        ],
    )


def _read_object(
    root: Path, name: str, *, comments: bool = False
) -> tuple[str, dict[str, Any]] | Problem:
    """Return the text of a JSON file and the object that it holds; both are empty without one.

    With ``comments`` it may have them, and commas behind the last entry.
    """
    try:
        text = (root / name).read_text("utf-8-sig")
        found = json.loads(_plain_json(text) if comments else text)
    except FileNotFoundError:
        text, found = "", {}
    except json.JSONDecodeError as error:
        place = error.lineno, error.colno
        return Problem(name, *place, "it cannot be read as JSON", _REMEDY_OF_JSON)
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        return Problem(name, 1, 1, f"it cannot be read: {error}", "Save it as text in UTF-8")
    if not isinstance(found, dict):
        return Problem(name, 1, 1, "it is not a JSON object", "Enclose its content in {…}")
    return text, found


def _plain_json(text: str) -> str:
    """Return ``text`` with spaces for its comments and last commas: all else keeps its place."""

    def blank(found: re.Match[str]) -> str:
        piece = found[0]
        return piece if piece.startswith('"') else re.sub(r"[^\n]", " ", piece)

    return _LAST_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _package_problems(root: Path, text: str, package: dict[str, Any]) -> Iterator[Problem]:
    places = key_places(text) if text else {}
    for kind in ("dependencies", "devDependencies"):
        listed = package.get(kind)
        if not isinstance(listed, Mapping):
            continue
        packages, oldest = _ui_library()
        for name in packages:
            version = listed.get(name)
            if isinstance(version, str) and _is_too_old(version, oldest):
                yield Problem(
                    _PACKAGE,
                    *places[f"{kind}.{name}"],
                    f"it requires {name} {version!r}, but pages need {oldest}",
                    f"Run 'npm install {' '.join(f'{one}@{oldest}' for one in packages)}', or "
                    "remove both: fxtrio includes its own",
                )
        if listed and kind == "dependencies" and not _installed(root):
            message = "its packages are not installed: there is no folder node_modules"
            yield Problem(_PACKAGE, *places[kind], message, "Run 'npm install'")


def _ui_library() -> tuple[list[str], int]:
    """Return the packages that pages render with, and the oldest major version of them."""
    library = json.loads((JS / "worker/library.json").read_text("utf-8"))
    return library["packages"], library["oldestMajor"]


def _is_too_old(version: str, oldest: int) -> bool:
    """Whether a range of versions holds none from ``oldest`` on; False in doubt."""
    found = [_PLAIN_RANGE.fullmatch(part.strip()) for part in version.split("||")]
    return all(one is not None and int(one[1]) < oldest for one in found)


def _installed(root: Path) -> bool:
    """Whether packages may be found from ``root``, as Node looks for them."""
    return any((folder / "node_modules").is_dir() for folder in (root, *root.parents))


def _unread(root: Path, package: dict[str, Any]) -> Iterator[Problem]:
    scripts = json.dumps(package.get("scripts"))
    if _READS_VITE.search(json.dumps(package)) or _RUNS_VITE.search(scripts):
        return  # it serves another tool, such as a test runner
    if (root / "components.json").is_file():
        return  # the shadcn CLI asks for one
    for path in sorted(root.iterdir()):
        if _VITE.fullmatch(path.name):
            remedy = (
                "Remove it: plug-ins of PostCSS, as for Tailwind, go into postcss.config.mjs, "
                "and '@/' is the project folder"
            )
            message = "nothing reads it: fxtrio sets up the bundler itself"
            yield Problem(path.name, 1, 1, message, remedy)


def _of_next(root: Path, config: Config) -> Iterator[Problem]:
    """Yield files of Next.js that nothing reads."""
    for path in sorted(root.iterdir()):
        if path.stem not in _OF_NEXT or not _SCRIPT.fullmatch(path.suffix) or not path.is_file():
            continue
        # Other tools have files of these names, too.
        if path.stem == "next.config" or _NEXT.search(path.read_text("utf-8", "replace")):
            yield Problem(path.name, 1, 1, "nothing reads it", _OF_NEXT[path.stem])
    if config.pages_dir == "app":
        return
    for path in sorted((root / "app").rglob("page.[jt]sx")):
        file = path.relative_to(root).as_posix()
        target = Path(config.pages_dir, path.relative_to(root / "app")).with_name("index.fxl")
        message = f"nothing reads it: pages are in '{config.pages_dir}'"
        yield Problem(file, 1, 1, message, f"Move it to '{target.as_posix()}'")


def _misnamed(root: Path, config: Config) -> Iterator[Problem]:
    for old, new in _CONFIG.items():
        if (root / old).is_file():
            yield Problem(old, 1, 1, "nothing reads it", f"Rename it to {new!r}")
    for old, new in _RENAMED.items():
        for path in sorted((root / config.pages_dir).rglob(f"*{old}")):
            file = path.relative_to(root).as_posix()
            message = f"it is not a page file: these end in {new!r}"
            yield Problem(file, 1, 1, message, f"Rename it to '{path.stem}{new}'")
