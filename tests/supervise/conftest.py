"""A built project, for the tests that serve one with the real command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..built_once import built_once
from ..trees import page, write_tree

FILES = {
    "app.py": """
        from pathlib import Path

        from fxtrio.app import create_app

        app = create_app(Path(__file__).parent)
        """,
    "mounted.py": """
        from contextlib import asynccontextmanager

        from starlette.applications import Starlette
        from starlette.responses import PlainTextResponse
        from starlette.routing import Mount, Route

        from app import app


        @asynccontextmanager
        async def lifespan(outer):
            async with app.open_mounted():
                yield


        def home(request):
            return PlainTextResponse("outer")


        outer = Starlette(routes=[Route("/", home), Mount("/sub", app)], lifespan=lifespan)
        """,
    "pages/talk.fxl": page(
        """
        SCRIPTS = "always"


        async def websocket(ws):
            await ws.accept()
            async for text in ws.iter_text():
                await ws.send_text(text)
        """
    ),
    "pages/room.fxl": page(
        """
        import os

        from fx.realtime import channel


        async def websocket(ws):
            await ws.accept()
            async with channel(ws, "room") as room:
                await ws.send_text(str(os.getpid()))
                async for text in ws.iter_text():
                    await room.publish(text)
        """
    ),
    "pages/api/slow.py": """
        import sys

        import trio
        from starlette.responses import PlainTextResponse


        async def get(request):
            print("slow request", file=sys.stderr, flush=True)
            await trio.sleep(float(request.query_params["seconds"]))
            return PlainTextResponse("done")
        """,
    "pages/api/take.py": """
        async def post(request):
            return {"bytes": len(await request.body())}
        """,
    "pages/api/big.py": """
        from starlette.responses import PlainTextResponse


        async def get(request):
            return PlainTextResponse("x" * 30_000_000)
        """,
    "pages/api/fill.py": """
        import os
        import sys

        import trio
        import trio.testing
        from fx.tasks import TaskQueueFull, enqueue

        END = trio.Path(os.environ.get("END_OF_JOBS", "/nowhere"))


        async def wait_for_the_end():
            while not await END.exists():
                await trio.sleep(0.02)
            print("a job had its end", file=sys.stderr, flush=True)


        async def sleep():
            await trio.sleep_forever()


        async def get(request):
            tasks = request.app.state.fx_tasks
            try:
                if not tasks.statistics().running:
                    for _ in range(tasks.workers):
                        enqueue(wait_for_the_end)
                await trio.testing.wait_all_tasks_blocked()
                while True:
                    enqueue(sleep)
            except TaskQueueFull:
                full = tasks.statistics()
                return {"pid": os.getpid(), "waiting": full.waiting, "running": full.running}
        """,
}


@pytest.fixture(scope="session")
def project(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(root: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "fxtrio", "build"],
            cwd=write_tree(root, FILES),
            env={**os.environ, "FX_COMPRESSION": "off"},  # which takes as long as all the rest
            check=True,
            timeout=300,
        )

    return built_once(pytestconfig, "supervised", tmp_path_factory.mktemp("supervised"), make)
