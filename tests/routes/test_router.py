"""Paths find the most specific route, against a naive oracle."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.routes import Router, folder_router, parse_pattern, specificity


def router(*patterns: str) -> Router[str]:
    return Router([(pattern, pattern) for pattern in patterns])


@pytest.mark.parametrize(
    ("path", "route", "params"),
    [
        ("/", "/", {}),
        ("/blog", "/blog", {}),
        ("/blog/new", "/blog/new", {}),
        ("/blog/5", "/blog/[id]", {"id": "5"}),
        ("/blog/5/edit", "/blog/[id]/edit", {"id": "5"}),
        ("/blog/5/x", "/blog/[...rest]", {"rest": "5/x"}),
        ("/blog/new/x/y", "/blog/[...rest]", {"rest": "new/x/y"}),
        ("/docs", "/docs/[[...path]]", {"path": ""}),
        ("/docs/a/b", "/docs/[[...path]]", {"path": "a/b"}),
        ("/a/b", "/[x]/b", {"x": "a"}),
        ("/grün", "/grün", {}),
    ],
)
def test_the_most_specific_route_answers(path: str, route: str, params: dict[str, str]) -> None:
    routes = router(
        "/docs/[[...path]]",
        "/blog/[...rest]",
        "/blog/[id]/edit",
        "/blog/[id]",
        "/blog/new",
        "/blog",
        "/[x]/b",
        "/grün",
        "/",
    )

    assert routes.match(path) == (route, params)


@pytest.mark.parametrize(
    "path",
    ["", "/a", "blog/5", "//blog/5", "/blog//5", "/blog/", "/blog/5/", "/blog/..", "/blog/."],
)
def test_empty_and_dot_segments_match_nothing(path: str) -> None:
    assert router("/blog/[id]", "/blog/[...rest]").match(path) is None


def test_a_branch_without_an_answer_falls_back_to_a_less_specific_one() -> None:
    routes = router("/a/b/c", "/a/[x]/d", "/[y]/b/e", "/[[...all]]")

    assert routes.match("/a/b/d") == ("/a/[x]/d", {"x": "b"})
    assert routes.match("/a/b/e") == ("/[y]/b/e", {"y": "a"})
    assert routes.match("/a/b/f") == ("/[[...all]]", {"all": "a/b/f"})
    assert routes.match("/") == ("/[[...all]]", {"all": ""})


def test_an_encoded_slash_stays_in_its_segment() -> None:
    routes = router("/files/[name]", "/files/[name]/edit", "/a/b")

    assert routes.match("/files/a/b", b"/files/a%2Fb") == ("/files/[name]", {"name": "a/b"})
    assert routes.match("/files/a/edit", b"/files/a%2fedit") == (
        "/files/[name]",
        {"name": "a/edit"},
    )
    assert routes.match("/a/b", b"/a%2Fb") is None
    assert routes.match("/files/a b", b"/files/a%20b") == ("/files/[name]", {"name": "a b"})


@pytest.mark.parametrize("raw", [b"/files/%ff%2F", b"/files/\xff%2F", b"%2Ffiles/x"])
def test_raw_paths_that_cannot_be_decoded_match_nothing(raw: bytes) -> None:
    assert router("/files/[name]", "/[...all]").match("/files/x", raw) is None


def test_a_slash_at_the_end_has_a_canonical_path_only_where_that_has_a_route() -> None:
    routes = router("/", "/blog/[id]")

    assert routes.canonical("/blog/5/") == "/blog/5"
    assert routes.canonical("/blog/5") is None
    assert routes.canonical("/other/") is None
    assert routes.canonical("/") is None
    assert routes.canonical("//") is None
    assert routes.canonical("//blog/5/") is None  # else the redirect would leave the host
    assert routes.canonical("/blog/5//") is None


def test_parameters_are_a_new_dict_every_time() -> None:
    routes = router("/blog")
    first = routes.match("/blog")
    assert first is not None
    first[1]["id"] = "changed"

    assert routes.match("/blog") == ("/blog", {})


@pytest.mark.parametrize("twin", ["/blog/[slug]", "/blog/[id]"])
def test_two_routes_with_one_shape_are_rejected(twin: str) -> None:
    with pytest.raises(ValueError, match="is there twice"):
        router("/blog/[id]", twin)


@pytest.mark.parametrize(
    "pattern", ["blog", "/blog/", "/[...a]/b", "/[id", "/a[b]", "/[a]/[a]", "/a b?", "/[1]"]
)
def test_malformed_patterns_are_rejected(pattern: str) -> None:
    with pytest.raises(ValueError):
        router(pattern)


def test_the_innermost_folder_of_a_path_is_found() -> None:
    folders = folder_router({"/": 0, "/blog": 1, "/blog/[id]": 2, "/docs/[...path]": 3})

    found = {}
    for path in ("/", "/x/y", "/blog", "/blog/5", "/blog/5/x/y", "/docs", "/docs/a/b"):
        match = folders.match(path)
        assert match is not None
        found[path] = match[0]

    assert found == {
        "/": 0,
        "/x/y": 0,
        "/blog": 1,
        "/blog/5": 2,
        "/blog/5/x/y": 2,
        "/docs": 0,
        "/docs/a/b": 3,
    }


def oracle(patterns: list[str], path: str) -> tuple[str, dict[str, str]] | None:
    """Try every pattern as a regular expression, the most specific first."""
    for pattern in sorted(patterns, key=specificity):
        expression = ""
        for part in [part for part in pattern.split("/") if part]:
            if part.startswith("[[..."):
                expression += f"(?:/(?P<{part[5:-2]}>.+))?"
            elif part.startswith("[..."):
                expression += f"/(?P<{part[4:-1]}>.+)"
            elif part.startswith("["):
                expression += f"/(?P<{part[1:-1]}>[^/]+)"
            else:
                expression += "/" + re.escape(part)
        found = re.fullmatch(expression or "/", path)
        if found is None and path == "/":
            found = re.fullmatch(expression, "")
        if found is not None:
            return pattern, {name: value or "" for name, value in found.groupdict().items()}
    return None


names = st.sampled_from(["a", "b", "c"])
middles = st.lists(names | st.sampled_from(["[p]", "[q]", "[r]"]), max_size=4, unique=True)
ends = st.sampled_from(["", "", "[...rest]", "[[...rest]]"])


@st.composite
def pattern_sets(draw: st.DrawFn) -> list[str]:
    """Patterns of which no two have the same shape."""
    found: dict[object, str] = {}
    for middle, end in draw(st.lists(st.tuples(middles, ends), max_size=12)):
        pattern = "/" + "/".join([*middle, end] if end else middle)
        shape = tuple(
            (segment.kind, segment.text if segment.kind == 0 else "")
            for segment in parse_pattern(pattern)
        )
        found.setdefault(shape, pattern)
    return list(found.values())


paths = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5).map(
    lambda parts: "/" + "/".join(parts)
)


@given(pattern_sets(), st.lists(paths, min_size=1, max_size=10))
def test_the_router_agrees_with_the_oracle(patterns: list[str], tried: list[str]) -> None:
    routes = router(*patterns)

    for path in tried:
        assert routes.match(path) == oracle(patterns, path)
        assert routes.match(path, path.encode()) == oracle(patterns, path)


@given(pattern_sets(), st.text(alphabet="/.ab%", max_size=12))
def test_any_text_gives_a_route_or_none(patterns: list[str], path: str) -> None:
    found = router(*patterns).match(path)

    if found is not None:
        assert "//" not in path and {".", ".."}.isdisjoint(path.split("/"))


@given(pattern_sets(), paths)
def test_a_canonical_path_has_a_route_and_no_slash_at_its_end(
    patterns: list[str], path: str
) -> None:
    routes = router(*patterns)
    canonical = routes.canonical(path + "/")

    assert (canonical is not None) == (path != "/" and routes.match(path) is not None)
