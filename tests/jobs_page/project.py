"""An app with accounts, jobs that fail and schedules, and the page that shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.trees import page, write_tree

ADA, EVE, PASSWORD = "ada@example.org", "eve@example.org", "correct horse battery"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
MODULE = """
    from fx.jobs import every, job

    BROKEN = True


    @job(retries=0, queue="mail")
    async def send(to):
        if BROKEN:
            raise RuntimeError(f"no mail server for {to}")


    @job()
    async def later(number):
        pass


    @every("0 3 * * *", tz="Europe/Berlin")
    async def sweep():
        pass
    """
PAGE = """
    from mails import later, send

    @action
    async def order(request):
        body = await request.json()
        if "to" in body:
            await send.enqueue(body["to"])
        else:
            await later.enqueue(body["number"], delay=3600)
        return {}
    """
LOGIN = """
    HEAD = '<link rel="icon" href="data:,">'


    @server
    async def load(request):
        return {"next": request.query_params.get("next", "/")}


    export default function Login({ data }) {
      return (
        <form method="post" action="/api/__auth/login">
          <input type="hidden" name="next" value={data.next} />
          <label>Email <input name="email" /></label>
          <label>Password <input name="password" type="password" /></label>
          <button>Sign in</button>
        </form>
      );
    }
    """


def plugins(**settings: Any) -> list[dict[str, Any]]:
    return [
        {"name": "auth", "settings": {"argon2": CHEAP}},
        {"name": "jobs", "settings": {"users": ["Ada@Example.org"], **settings}},
    ]


def write_project(root: Path, **settings: Any) -> Path:
    config = {"database": {"url": "sqlite:///data/app.db"}, "plugins": plugins(**settings)}
    files = {
        "fx.config.json": json.dumps(config),
        "mails.py": MODULE,
        "pages/index.fxl": page(PAGE),
        "pages/login.fxl": LOGIN,
    }
    return write_tree(root, files)
