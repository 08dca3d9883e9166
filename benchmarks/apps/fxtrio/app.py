"""The app that is measured: pages in pages/, the same as for the other frameworks."""

from pathlib import Path

from fxtrio.app import create_app

app = create_app(Path(__file__).parent)
