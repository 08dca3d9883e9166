"""Material for tests that must hold for whatever a page file contains."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

CASES = Path(__file__).parent / "cases"
SAMPLES = sorted(path.read_text() for path in CASES.glob("*.fxl"))

# Whole statements of one language, which the other cannot take for its own.
PYTHON = [
    "import os\n",
    "from a import b, c\n",
    "def f(x):\n    return {x: 1}\n",
    "async def load(request):\n    '''\nexport default 1\n    '''\n    return {}\n",
    "@server\nasync def g(request):\n\n    # note\n    return [\n1]\n",
    "class A(B):\n\tx = 1\n",
    'HEAD = ["<p>", `x`]\n'.replace("`", "'"),
    'CACHE = {"revalidate": 1}\n',
    "ALL_CAPS = (1, 'export {}')\n",
    "if True:\n    pass\nelse:\n    pass\n",
    "try:\n    pass\nexcept OSError:\n    pass\n",
    "# import x from 'y'\n",
]
NEWER_PYTHON = [  # than the oldest one that fxtrio runs on
    "type Pair[T] = tuple[T, T]\n",
    "class Box[T]:\n    x = 1\n",
    'def f[T](x):\n    return f"{x["\'"]}"\n',
    "try:\n    pass\nexcept OSError, ValueError:\n    pass\n",
]
CODE = "def x():\n    return `\nfrom a import b\n@c\nasync def d(): pass\n"
UI = [
    "import a from 'b'\n",
    "export default function P() {\n  return <p>it's {1} \"</p>\n}\n",
    "const t = `\n" + CODE.replace("`", "1") + "`\n",
    "const u = <pre>\n" + CODE.replace("`", "don't") + "</pre>\n",
    "/*\n" + CODE.replace("`", "'") + "*/\n",
    'const v = <p title="\n' + CODE.replace("`", "'") + '" />\n',
    "// def x():\n",
    "const r = /[/'\"`{]/g, s = a / b / c\n",
    "function f() {\nif (a) {\n}\n}\n",
    "class A extends B {\n}\n",
    "@a({\n})\nexport class C {}\n",
    "type T<A> = { a: A } | 'b'\n",
    "const g = <T,>(x: T) => x\n",
    "const w = `${`${'}'}`}`;\n",
    "if (a) {\n} else {\n}\n",
]

FRAGMENTS = st.one_of(
    st.sampled_from(["def f(x):", "    return 1", "@a", "class X:", "class Y {", "}", "{", "("]),
    st.sampled_from([")", "`", "'", '"', "'''", '"""', "/*", "*/", "//", "#", "# --- ui ---"]),
    st.sampled_from(
        ["<a>", "</a>", "<", "/", "/>", "${", "\\", "=", "x", "1", ":", ";", ",", "\n"]
    ),
    st.sampled_from(["\n", "\n", " ", "\t", "import a", "from b import c", "export default"]),
    st.sampled_from(["HEAD = ", "const a = ", "=>", "!", "[", "]", "\r\n", "\ufeff", "\0"]),
    st.sampled_from(['f"{', "t'{a}'", "type A[", "type A = str", "type B = A", "except a, b:"]),
    st.sampled_from(["async ", "await ", "if (x)", "type A = ", "\f", "\x1f", "é", "\u2028"]),
)

DECLARATIONS = [
    "@server\nasync def load(request):\n    return {}\n",
    "@server\ndef load():\n    yield\n",
    "@action\nasync def save(request, body: Model):\n    raise ActionError\n",
    "@action\n@server\nasync def both(request): ...\n",
    "HEAD = '<title>T</title><p>'\n",
    "HEAD += 1\n",
    "def HEAD(): ...\n",
    "CACHE = {'revalidate': 60 * 60}\n",
    "CACHE = CACHE\n",
    "MEMO = STANDALONE = False\n",
    "async def websocket(ws): ...\n",
    "def to_markdown(): ...\n",
    "from fx.runtime import *\n",
    "from mylib import server, HEAD\n",
    "return x\n",
    "export default () => <p/>\n",
]

LARGE = {
    "a realistic page": (CASES / "chat.fxl").read_text(),
    "typescript": (CASES / "typescript.fxl").read_text(),
    "python lines": "x = 1\n",
    "aliases of one language": "type A = B\n",
    "aliases of the other": "from a import B\ntype A = B\n",
    "a chain of aliases": "".join(f"type A{i} = A{i + 1}\n" for i in range(5000)),
    "formatted strings without an end": 'x = f"{\n',
    "formatted strings in each other": 'f"{',
    "one line": "x = 1; ",
    "broken definitions": "def f(\n",
    "brackets that Python does not see": "const a = 1\nX = ( # )\n",
    "decorators": "@a(\n",
    "decorated classes": "@a\n@b\n@c class D {}\n",
    "open brackets": "const a = {[(\n",
    "closing brackets": ")\n",
    "nested templates": "`${",
    "nested elements": "<a>{",
    "slashes": "const a = /[\n/[/[",
    "type parameters": "const a = <b>(<c",
    "comments without end": "const a = 1 /* ",
    "triple quotes": "x = '''\ny = \"\"\"\n",
    "quotes": "const a = '\n\"\n",
    "changes of language": "const a = <A<B\ndef f():\n    pass\n",
    "blank lines": "\n \n",
    "markers": "# --- ui ---\n",
    "spaces": "from ",
    "dots": "from ....",
    "bangs": "!a",
    "operators": "-",
    "backslashes": "\\",
    "doubtful calls": "import a from 'b'\nfoo(1)\nFOO = 1\n",
}
