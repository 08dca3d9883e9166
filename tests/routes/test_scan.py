"""Files of the pages folder become pages with their layouts, boundaries and patterns."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.config import Config
from fxtrio.routes import specificity
from fxtrio.routes.errors import PagesFolderMissing, RouteConflict, RouteNameInvalid
from fxtrio.routes.scan import build_tree, scan, url_of
from fxtrio.routes.tree import PageFile, PageTree


def patterns(tree: PageTree) -> dict[str, str]:
    return {page.pattern: page.source for page in tree.pages}


def page(tree: PageTree, pattern: str) -> PageFile:
    return next(page for page in tree.pages if page.pattern == pattern)


def test_files_become_patterns_in_order_of_specificity() -> None:
    tree = build_tree(
        [
            "[[...all]].fxl",
            "blog/[...rest].fxl",
            "blog/[id].fxl",
            "blog/new.fxl",
            "blog/index.fxl",
            "(shop)/cart/index.fxl",
            "index.fxl",
            "a.b.fxl",
        ]
    )

    assert tree.problems == ()
    assert [page.pattern for page in tree.pages] == [
        "/",
        "/a.b",
        "/blog",
        "/cart",
        "/blog/new",
        "/blog/[id]",
        "/blog/[...rest]",
        "/[[...all]]",
    ]
    assert page(tree, "/cart").source == "pages/(shop)/cart/index.fxl"


def test_private_and_hidden_files_are_no_routes() -> None:
    tree = build_tree(
        ["_draft.fxl", "_parts/card.fxl", "a/_b/c.fxl", ".hidden.fxl", "x.tsx", "api/_lib.py"]
    )

    assert tree == PageTree()


def test_well_known_folders_are_routes() -> None:
    tree = build_tree([".well-known/security.fxl"])

    assert list(patterns(tree)) == ["/.well-known/security"]


def test_layouts_come_outermost_first_and_a_template_follows_its_folders_layout() -> None:
    tree = build_tree(
        [
            "layout.fxl",
            "(site)/template.fxl",
            "(site)/[id]/layout.fxl",
            "(site)/[id]/template.fxl",
            "(site)/[id]/index.fxl",
            "about/layout.fxl",
        ]
    )

    layouts = [(layout.source, layout.is_template) for layout in page(tree, "/[id]").layouts]
    assert layouts == [
        ("pages/layout.fxl", False),
        ("pages/(site)/template.fxl", True),
        ("pages/(site)/[id]/layout.fxl", False),
        ("pages/(site)/[id]/template.fxl", True),
    ]


def test_error_files_come_nearest_first_each_in_its_own_layouts() -> None:
    tree = build_tree(
        ["layout.fxl", "error.fxl", "a/layout.fxl", "a/error.fxl", "a/b/index.fxl", "index.fxl"]
    )

    inner, outer, bare = page(tree, "/a/b").errors
    assert (inner.source, [layout.source for layout in inner.layouts]) == (
        "pages/a/error.fxl",
        ["pages/layout.fxl", "pages/a/layout.fxl"],
    )
    assert (outer.source, [layout.source for layout in outer.layouts]) == (
        "pages/error.fxl",
        ["pages/layout.fxl"],
    )
    assert (bare.source, bare.layouts, bare.errors) == ("pages/error.fxl", (), ())
    assert inner.errors == (outer, bare)
    assert outer.errors == (bare,)
    assert page(tree, "/").errors == (outer, bare)


def test_a_root_error_file_without_a_root_layout_is_there_once() -> None:
    tree = build_tree(["error.fxl", "index.fxl"])

    assert [boundary.source for boundary in page(tree, "/").errors] == ["pages/error.fxl"]


def test_not_found_files_come_nearest_first_with_error_files_of_their_own() -> None:
    tree = build_tree(
        ["not-found.fxl", "blog/not-found.fxl", "blog/error.fxl", "blog/[id].fxl", "index.fxl"]
    )

    inner, outer = page(tree, "/blog/[id]").not_found
    assert (inner.source, [error.source for error in inner.errors]) == (
        "pages/blog/not-found.fxl",
        ["pages/blog/error.fxl"],
    )
    assert (outer.source, outer.errors) == ("pages/not-found.fxl", ())
    assert tree.not_found == {"/": outer, "/blog": inner}


def test_of_folders_with_one_url_the_one_outside_the_groups_answers_unmatched_urls() -> None:
    tree = build_tree(
        ["(a)/not-found.fxl", "(b)/x/not-found.fxl", "not-found.fxl", "(b)/x/index.fxl"]
    )

    assert {pattern: file.source for pattern, file in tree.not_found.items()} == {
        "/": "pages/not-found.fxl",
        "/x": "pages/(b)/x/not-found.fxl",
    }


def test_the_nearest_loading_file_applies() -> None:
    tree = build_tree(["loading.fxl", "a/loading.fxl", "a/b/index.fxl", "index.fxl"])

    assert page(tree, "/a/b").loading == "pages/a/loading.fxl"
    assert page(tree, "/").loading == "pages/loading.fxl"


def test_python_files_of_api_folders_are_endpoints_and_others_are_not() -> None:
    tree = build_tree(
        ["api/index.py", "api/users/[id].py", "blog/api/feed.py", "blog/queries.py", "api/a.md"]
    )

    assert [(api.pattern, api.source) for api in tree.api] == [
        ("/api", "pages/api/index.py"),
        ("/blog/api/feed", "pages/blog/api/feed.py"),
        ("/api/users/[id]", "pages/api/users/[id].py"),
    ]


def test_markdown_sources_are_found_beside_pages_and_by_folder() -> None:
    tree = build_tree(["llms.py", "blog/llms.py", "blog/[id].fxl", "blog/[id].md", "README.md"])

    assert tree.llms == {"pages": "pages/llms.py", "pages/blog": "pages/blog/llms.py"}
    assert tree.markdown == {"pages/blog/[id].fxl": "pages/blog/[id].md"}


def test_two_files_with_one_pattern_are_a_conflict_that_names_both() -> None:
    tree = build_tree(["(a)/blog/[id].fxl", "blog/[slug].fxl", "about.fxl", "about/index.fxl"])

    assert [str(problem) for problem in tree.problems] == [
        "pages/about.fxl: serves '/about', which pages/about/index.fxl already serves. "
        "Rename one file, or move its code into the other.",
        "pages/blog/[slug].fxl: serves '/blog/[slug]', which pages/(a)/blog/[id].fxl already "
        "serves. Rename one file, or move its code into the other.",
    ]
    assert all(isinstance(problem, RouteConflict) for problem in tree.problems)


@pytest.mark.parametrize(
    ("file", "name", "cause"),
    [
        ("[id.fxl", "[id", "is not a parameter"),
        ("a[id].fxl", "a[id]", "is not a parameter"),
        ("[[id]].fxl", "[[id]]", "is not a parameter"),
        ("[...].fxl", "[...]", "is not a parameter"),
        ("[2nd].fxl", "[2nd]", "is not a parameter"),
        ("[...rest]/edit.fxl", "edit", "has [...rest] before the end"),
        ("[id]/x/[id].fxl", "[id]", "has two parameters named 'id'"),
        ("what?.fxl", "what?", "holds '?'"),
        ("50%.fxl", "50%", "holds '%'"),
        ("(group).fxl", "(group)", "is a file"),
        ("()/x.fxl", "()", "holds '('"),
        ("index/index.fxl", "index", "answers '/index'"),
        ("api/users.fxl", "users.fxl", "is a page in an api folder"),
        ("[id/layout.fxl", "[id", "is not a parameter"),
    ],
)
def test_a_name_that_is_no_url_segment_is_reported(file: str, name: str, cause: str) -> None:
    tree = build_tree([file])

    [problem] = tree.problems
    assert isinstance(problem, RouteNameInvalid)
    assert (problem.place, problem.name) == (f"pages/{file}", name)
    assert problem.cause.startswith(cause)


def test_all_problems_are_reported_together() -> None:
    tree = build_tree(["[a.fxl", "b.fxl", "b/index.fxl", "c?.fxl", "index.fxl"])

    assert len(tree.problems) == 3
    assert set(patterns(tree)) == {"/", "/b"}


def test_a_name_that_is_no_text_is_reported_with_its_bytes() -> None:
    [problem] = build_tree(["a/\udcff.fxl", "index.fxl"]).problems
    assert str(problem) == "pages/a/\\udcff.fxl: '\\\\udcff.fxl' is not UTF-8. Rename it."


def test_names_are_compared_in_normal_form() -> None:
    decomposed = unicodedata.normalize("NFD", "über")

    assert list(patterns(build_tree([f"{decomposed}.fxl"]))) == ["/über"]


def test_sources_name_every_file_once() -> None:
    tree = build_tree(
        [
            "layout.fxl",
            "error.fxl",
            "not-found.fxl",
            "a/error.fxl",
            "a/loading.fxl",
            "a/index.fxl",
            "b/not-found.fxl",
            "b/layout.fxl",
            "_x.fxl",
        ]
    )

    assert tree.sources == (
        "pages/a/error.fxl",
        "pages/a/index.fxl",
        "pages/a/loading.fxl",
        "pages/b/layout.fxl",
        "pages/b/not-found.fxl",
        "pages/error.fxl",
        "pages/layout.fxl",
        "pages/not-found.fxl",
    )


def test_scan_lists_the_pages_folder_of_the_config(tmp_path: Path) -> None:
    for name in ("index.fxl", "blog/[id].fxl", "_private/x.fxl", "a/__pycache__/x.fxl"):
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "site" / "loop").symlink_to(tmp_path / "site", target_is_directory=True)

    tree = scan(tmp_path, Config(pages_dir="site"))

    assert patterns(tree) == {"/": "site/index.fxl", "/blog/[id]": "site/blog/[id].fxl"}
    assert tree.problems == ()


def test_a_missing_pages_folder_is_a_problem(tmp_path: Path) -> None:
    [problem] = scan(tmp_path, Config()).problems

    assert isinstance(problem, PagesFolderMissing)
    assert str(tmp_path / "pages") in str(problem)


file_names = st.lists(
    st.sampled_from(
        ["a", "b", "(g)", "[x]", "[y]", "[...r]", "[[...r]]", "index", "layout", "error", "api"]
    )
    | st.text(max_size=4).filter(lambda name: "/" not in name and name),
    min_size=1,
    max_size=4,
).map("/".join)


def test_markdown_files_are_pages_unless_they_are_beside_one() -> None:
    names = ["docs/intro.md", "docs/index.md", "(a)/b.md", "c.md", "c.fxl", "docs/content.py"]
    ignored = ["_draft.md", "docs/README.md", "api/notes.md"]

    tree = build_tree([*names, *ignored])

    assert {page.pattern: page.source for page in tree.pages} == {
        "/b": "pages/(a)/b.md",
        "/c": "pages/c.fxl",
        "/docs": "pages/docs/index.md",
        "/docs/intro": "pages/docs/intro.md",
    }
    assert tree.markdown == {"pages/c.fxl": "pages/c.md"}
    assert tree.models == ("pages/docs/content.py",)
    assert not tree.problems
    assert "pages/docs/intro.md" in tree.sources


def test_markdown_files_have_no_special_names_and_no_url_of_another_page() -> None:
    tree = build_tree(["layout.md", "a.md", "a/index.fxl"])

    assert [str(problem).partition(". ")[0] for problem in tree.problems] == [
        "pages/a.md: serves '/a', which pages/a/index.fxl already serves",
        "pages/layout.md: 'layout.md' is a page of a name with a meaning",
    ]


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("pages/index.md", "/"),
        ("pages/docs/index.fxl", "/docs"),
        ("pages/(group)/a.md", "/a"),
        ("pages/docs/a.b.md", "/docs/a.b"),
        ("pages/[id].fxl", None),
        ("pages/_draft.md", None),
        ("pages/layout.fxl", None),
        ("pages/docs/README.md", None),
        ("pages/a.py", None),
        ("pagesx/a.md", None),
        ("posts/a.md", None),
    ],
)
def test_the_url_of_a_source_is_known_from_its_path(source: str, url: str | None) -> None:
    assert url_of(source, "pages") == url


@given(st.lists(st.tuples(file_names, st.sampled_from([".fxl", ".py", ".md"])), max_size=8))
def test_any_files_give_a_tree_without_twins(files: list[tuple[str, str]]) -> None:
    tree = build_tree({name + suffix for name, suffix in files})

    found = [page.pattern for page in tree.pages] + [api.pattern for api in tree.api]
    assert len(set(found)) == len(found)
    assert [page.pattern for page in tree.pages] == sorted(
        (page.pattern for page in tree.pages), key=specificity
    )
