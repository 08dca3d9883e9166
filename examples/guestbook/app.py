"""The guestbook: `fx build`, then `fx serve` or any ASGI server with a trio worker."""

from pathlib import Path

from fxtrio import create_app

app = create_app(Path(__file__).parent)
