"""`fx lsp`: answer an editor about page files."""

from __future__ import annotations

import click


@click.command
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, as it does anyway.")
def command(stdio: bool) -> None:
    """Answer an editor about page files, as a language server.

    Editors start it; they say which folder is open. What it logs goes to stderr.
    """
    import logging

    import trio

    from fxtrio.lsp.stdio import serve_stdio

    logging.basicConfig(level=logging.WARNING)
    raise SystemExit(trio.run(serve_stdio))
