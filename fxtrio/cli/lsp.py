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

    from fxtrio.errors import ExtraMissing

    try:
        from fxtrio.lsp.stdio import serve_stdio
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise ExtraMissing("fx lsp", "lsp", "pygls") from None
    logging.basicConfig(level=logging.WARNING)
    # It warns of what is in order: notifications that nobody takes, and late cancellations.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    raise SystemExit(trio.run(serve_stdio))
