"""Python that is nested as deeply as wanted, in every way that its grammar knows."""

from __future__ import annotations

from collections.abc import Callable

DEEP: dict[str, Callable[[int], str]] = {
    "elif": lambda n: (
        "if a:\n    b = 1\n" + "".join(f"elif a == {i}:\n    b = 1\n" for i in range(n))
    ),
    "sums": lambda n: "b = " + " + ".join(["1"] * n) + "\n",
    "sums in a function": lambda n: "def f():\n    return " + " + ".join(["'x'"] * n) + "\n",
    "unions": lambda n: "def f(a: " + " | ".join(["int"] * n) + ") -> None: ...\n",
    "attributes": lambda n: "b = a" + ".x" * n + "\n",
    "calls": lambda n: "b = a" + "()" * n + "\n",
    "chained methods": lambda n: "b = a" + ".m(1)" * n + "\n",
    "subscripts": lambda n: "b = a" + "[0]" * n + "\n",
    "brackets": lambda n: "b = " + "[" * n + "]" * n + "\n",
    "parentheses": lambda n: "b = " + "(" * n + "1" + ")" * n + "\n",
    "nots": lambda n: "b = " + "not " * n + "1\n",
    "signs": lambda n: "b = " + "-" * n + "1\n",
    "lambdas": lambda n: "b = " + "lambda: " * n + "1\n",
    "conditions": lambda n: "b = " + "1 if a else " * n + "2\n",
    "powers": lambda n: "b = " + "2 ** " * n + "1\n",
    "decorators": lambda n: "@a" + ".x" * n + "\ndef f(): ...\n",
    "blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "b = 1\n",
    "functions": lambda n: "".join(" " * i + "def f():\n" for i in range(n)) + " " * n + "b = 1\n",
    "patterns": lambda n: "match a:\n    case " + "[" * n + "]" * n + ":\n        b = 1\n",
    "subscripted types": lambda n: "b: " + "list[" * n + "int" + "]" * n + " = 1\n",
    "head": lambda n: "HEAD = " + " + ".join(["'<title>x</title>'"] * n) + "\n",
    "cache": lambda n: "CACHE = {'revalidate': " + " + ".join(["1"] * n) + "}\n",
    "loader": lambda n: (
        "@server\nasync def load(request):\n    return {'x': " + " + ".join(["1"] * n) + "}\n"
    ),
}
"""By what is nested: a function of how often."""

UI = "\nexport default function Page({ data }) { return <p>{data.x}</p>; }\n"
