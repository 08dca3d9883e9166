"""What methods of built-in types and functions of the standard library give: they say nothing
themselves. Only those whose result is always the same are here.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from starlette.datastructures import UploadFile

_TEXT = (
    *("capitalize", "casefold", "center", "expandtabs", "format", "format_map", "join", "ljust"),
    *("lower", "lstrip", "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip"),
    *("swapcase", "title", "translate", "upper", "zfill"),
)
_ASKS = (
    *("endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier"),
    *("islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "startswith"),
)

METHODS: Mapping[type, Mapping[str, Any]] = {
    str: {
        **dict.fromkeys(_TEXT, str),
        **dict.fromkeys(_ASKS, bool),
        **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), int),
        **dict.fromkeys(("split", "rsplit", "splitlines"), list[str]),
        **dict.fromkeys(("partition", "rpartition"), tuple[str, str, str]),
        "encode": bytes,
    },
    bytes: {"decode": str, "hex": str},
    int: {"bit_length": int, "conjugate": int},
    float: {"is_integer": bool, "hex": str},
    datetime.datetime: {
        **dict.fromkeys(("isoformat", "strftime", "ctime"), str),
        "tzname": str | None,
        **dict.fromkeys(("astimezone", "replace"), datetime.datetime),
        "date": datetime.date,
        "time": datetime.time,
        "timestamp": float,
        **dict.fromkeys(("weekday", "isoweekday", "toordinal"), int),
    },
    datetime.date: {
        **dict.fromkeys(("isoformat", "strftime", "ctime"), str),
        "replace": datetime.date,
        **dict.fromkeys(("weekday", "isoweekday", "toordinal"), int),
    },
    datetime.time: {**dict.fromkeys(("isoformat", "strftime"), str), "replace": datetime.time},
    datetime.timedelta: {"total_seconds": float},
    decimal.Decimal: {
        **dict.fromkeys(("quantize", "normalize", "copy_abs"), decimal.Decimal),
        "is_finite": bool,
    },
    Path: {
        **dict.fromkeys(("exists", "is_dir", "is_file", "is_symlink"), bool),
        "read_bytes": bytes,
        "read_text": str,
    },
    PurePath: {"as_posix": str, "as_uri": str, "is_absolute": bool},
}
"""By type: method to what it returns."""

ATTRIBUTES: Mapping[type, Mapping[str, Any]] = {
    datetime.datetime: dict.fromkeys(
        ("year", "month", "day", "hour", "minute", "second", "microsecond"), int
    ),
    datetime.date: dict.fromkeys(("year", "month", "day"), int),
    datetime.time: dict.fromkeys(("hour", "minute", "second", "microsecond"), int),
    datetime.timedelta: dict.fromkeys(("days", "seconds", "microseconds"), int),
    uuid.UUID: {"hex": str, "urn": str, "int": int, "version": int | None},
    PurePath: dict.fromkeys(("name", "stem", "suffix"), str),
    UploadFile: {"filename": str | None, "size": int | None, "content_type": str | None},
}
"""By type: attribute to what it is."""

FUNCTIONS: Mapping[str, Any] = {
    "builtins.len": int,
    "builtins.str": str,
    "builtins.repr": str,
    "builtins.ascii": str,
    "builtins.format": str,
    "builtins.chr": str,
    "builtins.hex": str,
    "builtins.bin": str,
    "builtins.oct": str,
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
    "builtins.bytes": bytes,
    "builtins.any": bool,
    "builtins.all": bool,
    "builtins.isinstance": bool,
    "builtins.issubclass": bool,
    "builtins.callable": bool,
    "builtins.hasattr": bool,
    "builtins.ord": int,
    "builtins.hash": int,
    "builtins.id": int,
    "builtins.range": list[int],
    "builtins.input": str,
    "json.dumps": str,
    "html.escape": str,
    "html.unescape": str,
    "time.time": float,
    "time.monotonic": float,
    "time.perf_counter": float,
    "uuid.uuid1": uuid.UUID,
    "uuid.uuid4": uuid.UUID,
    "uuid.uuid5": uuid.UUID,
    "secrets.token_hex": str,
    "secrets.token_urlsafe": str,
    "secrets.randbelow": int,
    "math.floor": int,
    "math.ceil": int,
    "math.sqrt": float,
    "os.getcwd": str,
    "os.getpid": int,
    "textwrap.dedent": str,
    "textwrap.shorten": str,
    "urllib.parse.quote": str,
    "urllib.parse.urlencode": str,
    "platform.python_version": str,
}
"""By module and name: what a call returns. None of them keeps or changes its arguments."""

MAKERS: Mapping[type, frozenset[str]] = {
    datetime.datetime: frozenset(
        {"now", "utcnow", "fromisoformat", "fromtimestamp", "strptime", "combine", "today"}
    ),
    datetime.date: frozenset({"today", "fromisoformat", "fromtimestamp"}),
    datetime.time: frozenset({"fromisoformat"}),
    decimal.Decimal: frozenset({"from_float"}),
}
"""By class: its methods that return an instance."""


def looked_up(table: Mapping[type, Mapping[str, Any]], kind: type, name: str) -> Any:
    """Return what a table has for a class or one above it; None when it has nothing."""
    for known, found in table.items():
        if issubclass(kind, known) and name in found:
            return found[name]
    return None
