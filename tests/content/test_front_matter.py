"""YAML at the beginning of Markdown files: values, lines of names, and what is refused."""

from __future__ import annotations

import pytest

from fxtrio.content.front_matter import divide, read_front_matter


def test_front_matter_has_the_types_of_json_and_the_lines_of_its_names() -> None:
    text = (
        "title: Hello\ndate: 2024-03-01\n# note\ntags: [a, 1]\nmore:\n  at: 2024-03-01 10:00:00\n"
    )

    found, mistakes = read_front_matter(text)

    assert not mistakes
    assert found.values == {
        "title": "Hello",
        "date": "2024-03-01",
        "tags": ["a", 1],
        "more": {"at": "2024-03-01T10:00:00"},
    }
    assert found.lines == {"title": 2, "date": 3, "tags": 5, "more": 6}


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("a: [1", 2, "its front matter is not YAML: expected ',' or ']'"),
        ("a: 1\na: 2", 3, "its front matter is not YAML: 'a' is defined twice"),
        ("a: &x [1]\nb: *x", 3, "its front matter is not YAML: YAML aliases are not supported"),
        ("1: a", 2, "its front matter is not YAML: a key is not text"),
        ("a: 2024-13-01", 2, "its front matter is not YAML: month must be in 1..12"),
        ("- a", 2, "its front matter has no keys"),
        ("b: 1\na: .nan", 3, "'a' is nan, which JSON cannot represent"),
        ("a: !!python/object:os.system x", 2, "its front matter is not YAML: could not determine"),
    ],
)
def test_what_json_does_not_have_is_a_mistake_with_its_line(
    text: str, line: int, cause: str
) -> None:
    _, [mistake] = read_front_matter(text)

    assert mistake.line == line
    assert mistake.message.startswith(cause)


def test_empty_lines_replace_front_matter_so_that_lines_stay() -> None:
    assert divide("---\na: 1\n---\ntext\n") == ("a: 1", "\n\n\ntext\n")
    assert divide("---\n---\ntext") == ("", "\n\ntext")
    assert divide("---\nan open one\n") == ("", "---\nan open one\n")
    assert divide("text\n---\na: 1\n---\n") == ("", "text\n---\na: 1\n---\n")
