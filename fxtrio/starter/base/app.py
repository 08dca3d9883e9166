"""The ASGI application, for any server that runs on trio: hypercorn --worker-class trio app:app."""

from pathlib import Path

from fxtrio import create_app

app = create_app(Path(__file__).parent)
