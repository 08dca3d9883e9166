"""Python of Pyxle is rewritten where it means the same, and left alone everywhere else."""

from __future__ import annotations

import ast
import json

import pytest

from fxtrio.compile.source import read_text
from fxtrio.tools.convert.edits import Edit, apply_edits
from fxtrio.tools.convert.pyxle_code import leftovers, rewrite
from fxtrio.tools.convert.pyxle_config import convert_config


def rewritten(code: str, *, is_page: bool = False) -> str:
    found = rewrite(read_text(code, "x.py"), ast.parse(code), on_trio=True, is_page=is_page)
    result = apply_edits(code, found.edits)
    ast.parse(result)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from pyxle.runtime import server, action", "from fx.runtime import server, action"),
        ("from pyxle.tasks import enqueue as later", "from fx.tasks import enqueue as later"),
        (
            "from pyxle.realtime import ChannelHandle",
            "from fx.realtime import Channel as ChannelHandle",
        ),
        ("from pyxle import __version__, tasks", "from fx import __version__, tasks"),
        ("import pyxle.tasks as t", "import fx.tasks as t"),
        (
            "def f():\n    from pyxle.runtime import (\n        server,\n        plugin,\n    )\n",
            "def f():\n    from fx.runtime import server\n    from pyxle.runtime import plugin\n",
        ),
        (
            "if x: from pyxle.runtime import server, ActionCookies",
            "if x: from fx.runtime import server; from pyxle.runtime import ActionCookies",
        ),
        ("import asyncio\nasyncio.sleep(1)", "import trio\ntrio.sleep(1)"),
        ("import asyncio, os\nasyncio.Lock()", "import os\nimport trio\ntrio.Lock()"),
        (
            "import asyncio as aio\naio.to_thread(f, 1, 2)\naio.gather(a, b)",
            "import asyncio as aio\nimport trio\n"
            "trio.to_thread.run_sync(f, 1, 2)\naio.gather(a, b)",
        ),
        ("import asyncio\nimport trio\nasyncio.Lock()", "pass\nimport trio\ntrio.Lock()"),
        ("r.state.cookies.delete('a')", "r.state.response.delete_cookie('a')"),
    ],
)
def test_what_means_the_same(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "code",
    [
        "from pyxle.cache import invalidate",
        "from pyxle_auth import current_user",
        "import pyxle.tasks",
        "from pyxles import server",
        "import asyncio\nasyncio.to_thread(f, x=1)",
        "import asyncio\nasyncio.sleep(1, 2)",
        "import asyncio\nasyncio.Event()",
        "import asyncio\nasyncio.run(asyncio.sleep(1))",
        "from fx.asyncio import portal\nimport asyncio\nasyncio.sleep(1)",
        "text = 'from pyxle.runtime import server'",
    ],
)
def test_all_else_is_left_alone(code: str) -> None:
    assert rewritten(code) == code


PAGE = "@server\nasync def load(request):\n    {}\n"


@pytest.mark.parametrize("seconds", ["n", "None", "0", "-1"])
def test_an_envelope_with_another_time_is_left_alone(seconds: str) -> None:
    code = PAGE.format(f"return {{'data': {{}}, 'revalidate': {seconds}}}")
    assert rewritten(code, is_page=True) == code


def test_an_envelope_becomes_its_data_and_cache() -> None:
    code = PAGE.format("return {'data': read(), 'revalidate': 60}")
    unwrapped = PAGE.format("return read()")
    assert rewritten(code, is_page=True) == f'CACHE = {{"revalidate": 60}}\n\n\n{unwrapped}'
    twice = code + "    return {}\n"
    assert rewritten(twice, is_page=True) == twice


DB = "from pyxle_db import get_database\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("db.fetchall('select 1')", "db.all(dict, 'select 1')"),
        ("db.fetchone('a = ? and b = ?', (x, y))", "db.one(dict, 'a = $1 and b = $2', x, y)"),
        ("db.fetchone('a = ?',\n    (x,),\n)", "db.one(dict, 'a = $1',\n    x,\n)"),
        ("db.execute('a = ?', [f(x)])", "db.execute('a = $1', f(x))"),
        ("db.execute('a' ' = ?', given)", "db.execute('a' ' = $1', *given)"),
        ("db.executemany('a = ?', rows)", "db.executemany('a = $1', rows)"),
        ("[r.asdict() for r in rows]", "[dict(r) for r in rows]"),
        (
            "async def f():\n    async with db.transaction() as tx:\n        await g(tx)\n",
            "async def f():\n    async with db.transaction():\n"
            "        tx = db\n        await g(tx)\n",
        ),
    ],
)
def test_queries_that_are_written_out(before: str, after: str) -> None:
    assert rewritten(DB + before) == f"from fx.db import get_database\n{after}"
    assert rewritten(before) == before


@pytest.mark.parametrize(
    "query",
    [
        "db.fetchall(sql, (x,))",
        "db.fetchone(f'a = ? {x}', (x,))",
        "db.fetchone('a = ? and b = \"?\"', (x,))",
        "db.fetchone('a = ? -- why?', (x,))",
        "db.fetchone('a = \\x3f', (x,))",
        "db.fetchall(*given)",
        "import sqlite3; db.fetchall('a = ?', (x,))",
        "db.execute(sql, (x,))",
        "db.fetchone('a = ?', (  # why\n    x,))",
    ],
)
def test_other_queries_are_listed(query: str) -> None:
    code = f"{DB}{query}\n"
    result = rewritten(code)
    assert result.endswith(f"{query}\n")
    found = leftovers(read_text(result, "x.py"), ast.parse(result), queries=True)
    assert [one.line for one in found] == [2]


def test_edits_do_not_overlap() -> None:
    with pytest.raises(ValueError, match="two edits overlap"):
        apply_edits("abc", [Edit(0, 2, ""), Edit(1, 3, "")])


def test_settings_without_a_counterpart_are_reported_where_they_were() -> None:
    text = '{\n  "csrf": {"cookieName": "x", "exemptPaths": ["/hook"]},\n  "plugins": ["mine:P"]\n}'
    converted, left = convert_config(text, "pyxle.config.json") or ("", [])
    assert '"exemptPaths"' in converted
    assert [(one.line, one.column, one.message) for one in left] == [
        (2, 12, "the setting 'csrf.cookieName' no longer exists"),
        (3, 15, "the setting 'plugins.0' no longer exists"),
    ]
    assert convert_config("{", "x") is None


@pytest.mark.parametrize(
    ("limits", "rules", "left"),
    [
        ('{"enabled": true, "requests": 9}', [{"route": "/*", "limit": "9 per 60 seconds"}], []),
        ('{"enabled": false, "requests": 9}', None, []),
        ('{"enabled": true}', None, ["rateLimit"]),
        (
            '{"requests": 9, "store": "x"}',
            [{"route": "/*", "limit": "9 per 60 seconds"}],
            ["rateLimit.store"],
        ),
    ],
)
def test_limits_that_are_switched_off_stay_off(
    limits: str, rules: list[dict[str, str]] | None, left: list[str]
) -> None:
    text, lost = convert_config(f'{{"rateLimit": {limits}}}', "pyxle.config.json") or ("", [])
    assert json.loads(text).get("rateLimits") == rules
    named = [f"the setting '{key}' no longer exists" for key in left]
    assert [one.message for one in lost] == named
