"""Files that list what a project needs: `package.json`, requirements, `.env`."""

from __future__ import annotations

import json
import re
from typing import Any

from fxtrio.tools.convert.conversion import Conversion, Converted, read_plain

_NPM_COMMAND = re.compile(r"^(pyxle|next) (dev|build|serve|start)\b.*$")
_OLDEST_REACT = 19
_READS_VITE = re.compile(r"\b(vitest|storybook)\b")
_VARIABLE = re.compile(
    r"^([ \t]*(?:export[ \t]+)?)(?:(?:PYXLE|NEXT)_PUBLIC_|PYXLE_(?=SECRET_KEY\b))", re.MULTILINE
)
_REQUIREMENT = re.compile(r"^pyxle-(framework|auth|db|mail|langkit)\b(\[[\w, -]*\])?.*$")


def add_postcss(conversion: Conversion, package: Converted) -> None:
    """Add the configuration of PostCSS that Tailwind needs, unless there is one."""
    there = any(conversion.root.glob("postcss.config.*"))
    if _TAILWIND in (package.text or "") and not there:
        plugins = f'export default {{ plugins: {{ "{_TAILWIND}": {{}} }} }};\n'
        conversion.add(Converted("postcss.config.mjs", plugins, done=["Tailwind"]))


_TAILWIND = "@tailwindcss/postcss"
_TAILWIND_ELSEWHERE = ("@tailwindcss/vite", "@tailwindcss/turbopack")
"""Tailwind for other bundlers."""


def convert_package(file: Converted, removed: frozenset[str]) -> None:
    """Give `package.json` the commands of fxtrio, its React, without the packages ``removed``."""
    try:
        package = json.loads(file.text or "")
    except ValueError:
        return
    if not isinstance(package, dict):
        return
    _commands(package, file)
    needs_vite = _READS_VITE.search(json.dumps(package)) is not None
    for kind in ("dependencies", "devDependencies"):
        listed = package.get(kind)
        if not isinstance(listed, dict):
            continue
        for name in [*listed]:
            if name in removed and not (needs_vite and "vite" in name):
                del listed[name]
                file.done.append(f"without {name}")
            elif name in _TAILWIND_ELSEWHERE:
                listed[_TAILWIND] = listed.pop(name)
                file.done.append("Tailwind by PostCSS")
            elif name in ("react", "react-dom") and _is_old(listed[name]):
                listed[name] = f"^{_OLDEST_REACT}.0.0"
                file.done.append(f"{name} {_OLDEST_REACT}")
        if not listed:
            del package[kind]
    file.text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def _commands(package: dict[str, Any], file: Converted) -> None:
    scripts = package.get("scripts")
    if not isinstance(scripts, dict):
        return
    for name, line in scripts.items():
        found = _NPM_COMMAND.match(str(line))
        if found is not None:
            scripts[name] = f"fx {'serve' if found[2] == 'start' else found[2]}"
            file.done.append(f"script '{name}'")


def _is_old(version: object) -> bool:
    found = re.match(r"[\^~=v]*(\d+)", str(version))
    return found is not None and int(found[1]) < _OLDEST_REACT


def convert_hidden(conversion: Conversion, build: str) -> None:
    """Convert the `.env` files, and what Git ignores; ``build`` is the build folder of before."""
    root = conversion.root
    for hidden in [*sorted(root.glob(".env*")), root / ".gitignore"]:
        text = read_plain(hidden) if hidden.is_file() and not hidden.is_symlink() else None
        if text is None:
            continue
        file = Converted(hidden.name, text, hidden.name)
        if hidden.name == ".gitignore":
            _convert_ignored(file, build)
        else:
            _convert_environment(file)
        conversion.add(file)


def _convert_environment(file: Converted) -> None:
    """Rename the variables of an `.env` file that browsers may see."""

    def here(found: re.Match[str]) -> str:
        return f"{found[1]}FX_PUBLIC_" if "PUBLIC" in found[0] else f"{found[1]}FX_"

    text, count = _VARIABLE.subn(here, file.text or "")
    if count:
        file.text = text
        file.done.append("names of variables")


def convert_requirements(file: Converted) -> None:
    """Name fxtrio in place of Pyxle's packages."""
    lines: list[str] = []
    extras: set[str] = set()
    at = -1
    for line in (file.text or "").splitlines():
        found = _REQUIREMENT.match(line)
        if found is None:
            lines.append(line)
            continue
        at = len(lines) if at < 0 else at
        extras |= {"auth"} if found[1] == "auth" else set()
        extras |= {one.strip() for one in (found[2] or "[]")[1:-1].split(",")} & {
            *("pydantic", "redis", "postgres"),
        }
    if at < 0:
        return
    extras_text = f"[{','.join(sorted(extras))}]" if extras else ""
    lines.insert(at, f"fxtrio{extras_text}")
    file.text = "\n".join(lines) + "\n"
    file.done.append("fxtrio")


def _convert_ignored(file: Converted, build: str) -> None:
    """Have Git ignore the build folder of fxtrio beside that of before, ``build``."""
    lines = (file.text or "").splitlines()
    if any(line.strip("/ ") == ".fx" for line in lines):
        return
    at = next((n for n, line in enumerate(lines) if line.strip("/ ") == build), len(lines) - 1)
    lines.insert(at + 1, ".fx/")
    file.text = "\n".join(lines) + "\n"
    file.done.append(".fx/")
