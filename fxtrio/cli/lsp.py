"""`fx lsp`: answer an editor about page files."""

from __future__ import annotations

import sys

import click


@click.command
@click.option("--stdio", is_flag=True, help="Use stdin and stdout, the default.")
def command(stdio: bool) -> None:
    """Run the language server for page files.

    Editors start it and pass the open folder. It logs to stderr.
    """
    if sys.stdin.isatty():
        raise click.UsageError(
            "this is a language server: an editor starts it, and talks to it over stdin. To see "
            "in a terminal what it shows in editors, run 'fx check' and 'fx typecheck'."
        )
    import gc
    import logging

    import trio

    from fxtrio.errors import ExtraMissing

    try:
        from fxtrio.tools.lsp.session import serve_stdio
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise ExtraMissing("fx lsp", "lsp", "pygls") from None
    gc.freeze()  # what imports have made stays
    logging.basicConfig(level=logging.WARNING)
    # It warns of normal events: notifications without a handler, and late cancellations.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    code = trio.run(serve_stdio)
    if code:
        click.echo("fx lsp: the editor disconnected without a 'shutdown' request.", err=True)
    raise SystemExit(code)
