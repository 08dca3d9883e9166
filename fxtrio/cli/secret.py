"""`fx secret`: a key for FX_SECRET_KEY."""

from __future__ import annotations

import secrets

import click


@click.command
def command() -> None:
    """Print a new random key for FX_SECRET_KEY.

    To change keys without signing users out, put the new one in front:
    FX_SECRET_KEY="$(fx secret),$FX_SECRET_KEY".
    """
    click.echo(secrets.token_urlsafe(32))
