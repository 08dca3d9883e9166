"""What a project gets for the first time while `fx dev` serves it: it begins without.

Each entry says what there is before, which files come, and what is on the screen then, in a
browser that nobody reloads.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import httpx
from playwright.sync_api import Page

from tests.e2e.support import Server


@attrs.frozen(kw_only=True)
class First:
    """One thing that comes for the first time."""

    files: dict[str, str]
    """What is written, in this order; each is dedented."""

    shows: str = ""
    """What the open page shows then; "" when the page does not change."""

    before: dict[str, str] = attrs.field(factory=dict)
    """What there is besides `HOME`."""

    then: Callable[[Server, Page], bool] | None = None
    """What holds at last, besides."""

    path: str = "/"
    """The page that is open."""


IN_TURN = ("job_with_its_settings", "markdown")
"""Those of every run of the tests, one after the other; `nox -s days` has all of them.

Each costs two restarts. One needs settings and a folder of data, and one is found by the name
of its file.
"""

HOME = "export default function Home() {\n  return <h1>Bare</h1>;\n}\n"

DATABASE = {"fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}'}

_VIEW_OF_LOADER = "export default function Home({ data }) {\n  return <h1>{data.said}</h1>;\n}\n"

_SENT = """
import { useEffect, useState } from "react";
import { useAction } from "fx/client";

export default function Home() {
  const [said, setSaid] = useState("asking");
  const ask = useAction("ask");
  useEffect(() => {
    ask({}).then((answer) => setSaid(answer.said ?? answer.error));
  }, []);
  return <h1>{said}</h1>;
}
"""


def page_of_loader(python: str) -> str:
    """Return a page that shows what its loader calls `said`."""
    return f"{python.strip()}\n\n\n{_VIEW_OF_LOADER}"


def page_of_action(python: str) -> str:
    """Return a page that shows what its action calls `said`, as soon as it is there."""
    return f"{python.strip()}\n\n{_SENT}"


def answers(path: str, text: str, status: int = 200) -> Callable[[Server, Page], bool]:
    """Ask for ``path``, and say whether that has been the answer."""

    def ask(server: Server, _: Page) -> bool:
        answer = httpx.get(server.url + path, timeout=30)
        return answer.status_code == status and text in answer.text

    return ask


def looks(rule: str, value: str) -> Callable[[Server, Page], bool]:
    """Say whether the heading of the open page has a style."""

    def look(_: Server, page: Page) -> bool:
        found = page.locator("h1").evaluate("(it, rule) => getComputedStyle(it)[rule]", rule)
        return bool(found == value)

    return look


_JOB = """
from fx.db import db
from fx.jobs import job


@job()
async def say(word: str) -> None:
    await db.execute("create table if not exists said (word text)")
    await db.execute("insert into said values ($1)", word)
"""

_JOB_PAGE = """
import trio
from fx.db import db
%s

@action
async def ask(request):
    await say.enqueue("a job")
    with trio.fail_after(30):
        while not await db.value("select count(*) from sqlite_master where name = 'said'"):
            await trio.sleep(0.01)
        while not await db.value("select count(*) from said"):
            await trio.sleep(0.01)
    return {"said": await db.value("select word from said")}
"""

FIRSTS: dict[str, First] = {
    "job": First(
        before=DATABASE,
        files={
            "mail.py": _JOB,
            "pages/index.fxl": page_of_action(_JOB_PAGE % "from mail import say\n"),
        },
        shows="a job",
    ),
    "job_in_a_page": First(
        before=DATABASE,
        files={"pages/index.fxl": page_of_action(_JOB_PAGE % _JOB)},
        shows="a job",
    ),
    "job_with_its_settings": First(
        files={
            **DATABASE,  # first: the page calls its action once, as soon as it is shown
            "mail.py": _JOB,
            "pages/index.fxl": page_of_action(_JOB_PAGE % "from mail import say\n"),
        },
        shows="a job",
    ),
    "migration": First(
        before=DATABASE,
        files={
            "pages/index.fxl": page_of_loader("""
from fx.db import db


@server
async def load(request):
    return {"said": await db.value("select word from words")}
"""),
            "migrations/0001_words.sql": "create table words (word text);\n"
            "insert into words values ('a migration');\n",
        },
        shows="a migration",
    ),
    "database": First(
        files={
            "migrations/0001_words.sql": "create table words (word text);\n"
            "insert into words values ('a database');\n",
            "pages/index.fxl": page_of_loader("""
from fx.db import db


@server
async def load(request):
    return {"said": await db.value("select word from words")}
"""),
            **DATABASE,
        },
        shows="a database",
    ),
    "plugin": First(
        files={
            "greet.py": """
from contextlib import asynccontextmanager
from fxtrio.plugins import Plugin
import attrs


@attrs.frozen
class Settings:
    word: str


class Greet(Plugin[Settings]):
    name = "greet"
    Settings = Settings

    @asynccontextmanager
    async def open(self, app):
        yield self.settings.word
""",
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": request.app.state.fx.plugins["greet"]}
"""),
            "fx.config.json": '{"plugins": [{"name": "greet:Greet", '
            '"settings": {"word": "a plugin"}}]}',
        },
        shows="a plugin",
    ),
    "auth": First(
        before=DATABASE,
        files={
            "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}, "plugins": ["auth"]}',
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": f"signed in: {request.state.user}"}
"""),
        },
        shows="signed in: None",
    ),
    "api_folder": First(
        files={
            "pages/api/word.py": "async def get(request):\n    return {'said': 'an api'}\n",
            "pages/index.fxl": """
import { useEffect, useState } from "react";

export default function Home() {
  const [said, setSaid] = useState("");
  useEffect(() => {
    fetch("/api/word").then((it) => it.json()).then((it) => setSaid(it.said));
  }, []);
  return <h1>{said}</h1>;
}
""",
        },
        shows="an api",
    ),
    "llms": First(
        before={"fx.config.json": '{"llms": true}'},
        files={"pages/llms.py": "def llms_txt(ctx):\n    return '# first llms'\n"},
        then=answers("/llms.txt", "# first llms"),
    ),
    "markdown": First(
        files={
            "pages/llms.py": "def to_markdown(ctx):\n    return '# first markdown'\n",
            "fx.config.json": '{"llms": true}',
        },
        then=answers("/index.md", "# first markdown"),
    ),
    "markdown_file": First(
        before={"fx.config.json": '{"llms": true}'},
        files={"pages/index.md": "# first file\n"},
        then=answers("/index.md", "# first file"),
    ),
    "channel": First(
        files={
            "pages/index.fxl": """
from fx.realtime import channel, publish


async def websocket(ws):
    await ws.accept()
    async with channel(ws, "words"):
        await publish("words", {"said": "a channel"})
        async for _ in ws.iter_text():
            pass


import { useState } from "react";
import { useWebSocket } from "fx/client";

export default function Home() {
  const [said, setSaid] = useState("");
  useWebSocket(undefined, { onMessage: (message) => setSaid(message.said) });
  return <h1>{said}</h1>;
}
""",
        },
        shows="a channel",
    ),
    "websocket": First(
        files={
            "pages/index.fxl": """
async def websocket(ws):
    await ws.accept()
    await ws.send_json({"said": "a socket"})
    async for _ in ws.iter_text():
        pass


import { useState } from "react";
import { useWebSocket } from "fx/client";

export default function Home() {
  const [said, setSaid] = useState("");
  useWebSocket(undefined, { onMessage: (message) => setSaid(message.said) });
  return <h1>{said}</h1>;
}
""",
        },
        shows="a socket",
    ),
    "hook": First(
        files={
            "guards.py": """
async def named(request):
    request.state.word = "a hook"
""",
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": request.state.word}
"""),
            "fx.config.json": '{"routeMiddleware": {"pages": ["guards.named"]}}',
        },
        shows="a hook",
    ),
    "middleware": First(
        files={
            "stamps.py": """
class Stamp:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        scope["word"] = "middleware"
        await self.app(scope, receive, send)
""",
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": request.scope["word"]}
"""),
            "fx.config.json": '{"middleware": ["stamps.Stamp"]}',
        },
        shows="middleware",
    ),
    "app": First(
        files={
            "app.py": """
from pathlib import Path
from fxtrio import create_app

app = create_app(Path(__file__).parent)
app.state.word = "an app"
""",
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": request.app.state.word}
"""),
        },
        shows="an app",
    ),
    "public_folder": First(
        files={
            "public/word.txt": "a public file",
            "pages/index.fxl": """
import { useEffect, useState } from "react";

export default function Home() {
  const [said, setSaid] = useState("");
  useEffect(() => {
    fetch("/word.txt").then((it) => it.text()).then(setSaid);
  }, []);
  return <h1>{said}</h1>;
}
""",
        },
        shows="a public file",
    ),
    "layout": First(
        files={
            "pages/layout.fxl": "export default function Layout({ children }) {\n"
            "  return <main>a layout {children}</main>;\n}\n"
        },
        shows="a layout",
    ),
    "layout_with_a_loader": First(
        files={
            "pages/layout.fxl": """
@server
async def load(request):
    return {"said": "from a layout"}


export default function Layout({ data, children }) {
  return <main>{data.said} {children}</main>;
}
"""
        },
        shows="from a layout",
    ),
    "error_file": First(
        before={
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    raise LoaderError("no more", 418)
""")
        },
        files={
            "pages/error.fxl": "export default function Failed({ error }) {\n"
            "  return <p>an error file: {error.message}</p>;\n}\n"
        },
        then=answers("/", "an error file", 418),
    ),
    "not_found_file": First(
        files={
            "pages/not-found.fxl": "export default function Missing() {\n"
            "  return <p>nothing of that name</p>;\n}\n"
        },
        then=answers("/none", "nothing of that name", 404),
    ),
    "loading_file": First(
        before={
            "pages/index.fxl": page_of_loader("""
import trio


@server
async def load(request):
    await trio.sleep(0.2)
    return {"said": "late"}
""")
        },
        files={
            "pages/loading.fxl": "export default function Waiting() {\n"
            "  return <p>a loading file</p>;\n}\n"
        },
        then=answers("/", "a loading file"),
    ),
    "stylesheet": First(
        files={
            "pages/words.css": "h1 { color: rgb(1, 2, 3); }\n",
            "pages/index.fxl": 'import "./words.css";\n\n' + HOME.replace("Bare", "styled"),
        },
        shows="styled",
        then=looks("color", "rgb(1, 2, 3)"),
    ),
    "component": First(
        files={
            "components/word.jsx": "export const Word = () => <b>a component</b>;\n",
            "pages/index.fxl": 'import { Word } from "../components/word.jsx";\n\n'
            + HOME.replace("Bare", "<Word />"),
        },
        shows="a component",
    ),
    "env_file": First(
        files={
            "pages/index.fxl": """
import os


@server
async def load(request):
    return {"said": os.environ.get("WORD", "no word")}


export default function Home({ data }) {
  return <h1>{data.said} and {import.meta.env.FX_PUBLIC_WORD}</h1>;
}
""",
            ".env": "WORD=a variable\nFX_PUBLIC_WORD=one for all\n",
        },
        shows="a variable and one for all",
    ),
    "settings": First(
        files={"fx.config.json": '{"lang": "de"}'},
        then=answers("/", '<html lang="de"'),
    ),
    "action": First(
        files={
            "pages/index.fxl": page_of_action("""
@action
async def ask(request):
    return {"said": "an action"}
""")
        },
        shows="an action",
    ),
    "module": First(
        files={
            "words.py": "WORD = 'a module'\n",
            "pages/index.fxl": page_of_loader("""
from words import WORD


@server
async def load(request):
    return {"said": WORD}
"""),
        },
        shows="a module",
    ),
    "module_after_its_page": First(
        files={
            "pages/index.fxl": page_of_loader("""
from later.words import WORD


@server
async def load(request):
    return {"said": WORD}
"""),
            "later/__init__.py": "",
            "later/words.py": "WORD = 'a late module'\n",
        },
        shows="a late module",
    ),
    "loader": First(
        files={
            "pages/index.fxl": page_of_loader("""
@server
async def load(request):
    return {"said": "a loader"}
""")
        },
        shows="a loader",
    ),
    "other_page": First(
        path="/other",
        files={"pages/other.fxl": HOME.replace("Bare", "another page")},
        shows="another page",
    ),
    "package": First(
        files={  # as npm writes them
            "node_modules/greeting/package.json": '{"name": "greeting", "version": "1.0.0", '
            '"type": "module", "exports": "./index.js"}',
            "node_modules/greeting/index.js": 'export const greeting = "a package";\n',
            "package.json": '{"dependencies": {"greeting": "1.0.0"}}',
            "pages/index.fxl": 'import { greeting } from "greeting";\n\n'
            + HOME.replace("Bare", "{greeting}"),
        },
        shows="a package",
    ),
    "package_after_its_page": First(
        files={
            "pages/index.fxl": 'import { greeting } from "late-greeting";\n\n'
            + HOME.replace("Bare", "{greeting}"),
            "node_modules/late-greeting/package.json": '{"name": "late-greeting", '
            '"version": "1.0.0", "type": "module", "exports": "./index.js"}',
            "node_modules/late-greeting/index.js": 'export const greeting = "a late package";\n',
            "package.json": '{"dependencies": {"late-greeting": "1.0.0"}}',
        },
        shows="a late package",
    ),
    "typescript": First(
        files={
            "tsconfig.json": '{"compilerOptions": {"jsx": "react-jsx"}}',
            "components/word.tsx": "export const Word = ({ a }: { a: string }) => <b>{a}</b>;\n",
            "pages/index.fxl": 'import { Word } from "@/components/word";\n\n'
            + HOME.replace("Bare", '<Word a="typed" />'),
        },
        shows="typed",
    ),
    "postcss": First(
        files={
            "postcss.config.mjs": """
export default {
  plugins: [
    { postcssPlugin: "grey", Declaration: { color: (it) => { it.value = "rgb(9, 9, 9)" } } },
  ],
};
""",
            "pages/words.css": "h1 { color: black; }\n",
            "pages/index.fxl": 'import "./words.css";\n\n' + HOME.replace("Bare", "styled"),
        },
        shows="styled",
        then=looks("color", "rgb(9, 9, 9)"),
    ),
}
