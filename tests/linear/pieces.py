"""The pieces of hostile text: each is repeated."""

from __future__ import annotations

PIECES = [
    b"a", b"%", b"%zz", b"%41", b"&", b"=", b"+", b";", b"; ", b",", b'"', b'\\"', b"\\", b"\\054",
    b"\r\n", b"\r", b"\n", b"--b", b"\r\n--b", b"\r\n--", b"-", b" ", b"[", b"{", b"[],", b'"a",',
    b'{"a":', b"1", b"\\u00e4", b"\xff", b"\xc3\xa4", b"filename=", b'name="', b"text/*;q=0,",
    b"@", b":", b"\\*", b"\\_", b"*", b"a \\- b ", b"\\]", b"\\&a", b"`", b"](", b"](<", b"> ",
    b"- ", b"#", b"1. ", b"<", b"<!--", b"<meta ", b"<script>", b"</", b"<p>", b"<h1>",
    b"<blockquote>", b"\n\n",
]  # fmt: skip
