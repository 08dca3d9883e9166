"""Hostile files, and random ones derived from them."""

from __future__ import annotations

from random import Random

from tests.compile.deep import DEEP, UI
from tests.compile.hostile import SAMPLES

_LOADER = "@server\nasync def load(request):\n    return {}\n"

_JSX: dict[str, str] = {
    "elements": "export default () => " + "<i>" * 3000 + "</i>" * 3000 + ";\n",
    "expressions": "export default () => <p>{" + "(" * 3000 + "1" + ")" * 3000 + "}</p>;\n",
    "arrows": "export default " + "() => " * 3000 + "1;\n",
    "ternaries": "const a = " + "1 ? 2 : " * 3000 + "3;\nexport default () => <p>{a}</p>;\n",
    "sums": "const a = " + "1 + " * 5000 + "3;\nexport default () => <p>{a}</p>;\n",
    "templates": "const a = " + "`${" * 500 + "1" + "}`" * 500 + ";\nexport default () => <p/>;\n",
    "a long line": f"export default () => <p>{'x' * 300_000}</p>;\n",
    "endless": "export default () => <p>{`",
}

_BYTES: dict[str, bytes] = {
    "no utf-8": b"\xff\xfe\x00x = 1\n" + UI.encode(),
    "nul": b"x = '\x00'\n" + UI.encode(),
    "bom in the middle": "a = 1\n\ufeffb = 2\n".encode() + UI.encode(),
    "surrogate": b"x = '\xed\xa0\x80'\n" + UI.encode(),
    "line separators": "x = 1\u2028y = 2\x85z = 3\x0c\x1c\n".encode() + UI.encode(),
    "carriage returns": b"x = 1\ry = 2\r\rz = 3\r" + UI.encode(),
    "empty": b"",
    "escapes": b"x = 1 \x1b]0;title\x07 \x9b31m\n" + UI.encode(),
    "a large number": b"x = " + b"9" * 10_000 + b"\n" + UI.encode(),
    "a large head": b"HEAD = '" + b"<meta " * 5000 + b"'\n" + UI.encode(),
    "a huge product": b"CACHE = {'revalidate': 'x' * 10 ** 12}\n" + UI.encode(),
    "a huge power": b"CACHE = {'revalidate': 9 ** 9 ** 9}\n" + UI.encode(),
    "coding": b"# -*- coding: utf-7 -*-\nx = 1\n" + UI.encode(),
}

FILES: dict[str, bytes] = {
    **{name: (make(1500) + UI).encode() for name, make in DEEP.items() if name != "functions"},
    **{f"jsx {name}": (_LOADER + text).encode() for name, text in _JSX.items()},
    **_BYTES,
}


def random_file(random: Random) -> bytes:
    """Return a file that nobody has seen before: one of all these, cut, joined and damaged."""
    parts = [*FILES.values(), *(sample.encode() for sample in SAMPLES)]
    name = random.choice(sorted(DEEP))
    parts.append((DEEP[name](random.choice([100, 190, 210, 400, 3000])) + UI).encode())
    data = random.choice(parts)
    for _ in range(random.randrange(4)):
        kind = random.randrange(4)
        at = random.randrange(len(data) + 1)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + random.choice(parts) + data[at:]
        elif kind == 2:
            data = data[:at] + random.randbytes(random.randrange(1, 5)) + data[at + 1 :]
        else:
            data = data[:at] + random.choice([b"\n", b"'''", b"{", b"<", b"`", b")", b"@server\n"])
    return data[:2_000_000]
