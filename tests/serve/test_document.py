"""The document around a render: attributes of ``html`` and ``body`` that its head begins with."""

from __future__ import annotations

from fxtrio.manifest import Assets, View
from fxtrio.serve.pages.html.document import document_frame
from fxtrio.ssr.frames import Rendered

FRAME = document_frame(
    View(id=0, kind="page", module="pages/index.fxl"),
    Assets(entry="/_fx/main.js"),
    lang="en",
    nonce=b"NONCE",
)


def whole(head: bytes) -> bytes:
    return FRAME.whole(Rendered(head, b"<p>it</p>"), b"{}", b"fresh")


def shell(head: bytes) -> bytes:
    return FRAME.shell(Rendered(head, b"<p>it</p>"))


def test_a_head_gives_html_and_body_their_attributes() -> None:
    head = b'<html data-fx-head="lang" lang="ar"><body data-fx-head="class" class="wide"><title>'
    for document in (whole(head), shell(head)):
        assert document.startswith(
            b'<!DOCTYPE html><html data-fx-head="lang" lang="ar"><head><meta charset="utf-8">'
        )
        assert b'</head><body data-fx-head="class" class="wide"><div id="fx-root"><p>' in document
        assert document.count(b"<html") == document.count(b"<body") == 1
        assert b"<title>" in document


def test_the_language_of_the_settings_stays_where_a_head_has_none() -> None:
    document = whole(b'<html data-fx-head="hreflang dir" hreflang="de" dir="rtl">')
    assert document.startswith(
        b'<!DOCTYPE html><html lang="en" data-fx-head="hreflang dir" hreflang="de" dir="rtl"><head>'
    )
    assert b'</head><body><div id="fx-root">' in document
    document = whole(b'<body data-fx-head="class" class="a">')
    assert document.startswith(b'<!DOCTYPE html><html lang="en"><head>')


def test_a_head_without_them_is_framed_as_ever() -> None:
    for head in (b"", b"<title>T</title>"):
        for document in (whole(head), shell(head)):
            assert document.startswith(b'<!DOCTYPE html><html lang="en"><head><meta charset')
            assert b'</head><body><div id="fx-root"><p>it</p>' in document
