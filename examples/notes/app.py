"""The notes: `fx build`, then `fx serve`."""

from pathlib import Path

from fxtrio.app import create_app

app = create_app(Path(__file__).parent)
