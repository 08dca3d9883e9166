"""Paths that an app answers, as types of TypeScript. Pure."""

from __future__ import annotations

import json

from fxtrio.routes.pattern import Kind, parse_pattern


def path_types(pattern: str) -> list[str]:
    """Return the types of the paths that a pattern answers, or a path that ends in ``/*``."""
    text = ""
    if pattern.endswith("/*"):
        return [f"`{pattern[:-1]}${{string}}`", json.dumps(pattern[:-2] or "/")]
    for segment in parse_pattern(pattern):
        if segment.kind is Kind.OPTIONAL_REST:
            return [_template(text or "/"), _template(f"{text}/${{string}}")]
        text += f"/{segment.text}" if segment.kind is Kind.LITERAL else "/${string}"
    return [_template(text or "/")]


def is_pattern(path: str) -> bool:
    """Whether `path_types` can read a path."""
    try:
        parse_pattern(path.removesuffix("/*") if path != "/*" else "/")
    except ValueError:
        return False
    return True


def _template(text: str) -> str:
    return f"`{text}`" if "${" in text else json.dumps(text)
