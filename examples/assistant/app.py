"""The assistant: `fx build`, then `fx serve`."""

from pathlib import Path

from fxtrio import create_app

app = create_app(Path(__file__).parent)
