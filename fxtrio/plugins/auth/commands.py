"""``fx auth``: users and sessions from the command line, without a running app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click
import trio

from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.service import AuthService
from fxtrio.plugins.auth.storage.interface import AuthStorage
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage
from fxtrio.plugins.auth.storage.sqlite_migration import Taken, find_former, mark_moved, take_over

OpenService = Callable[[], AbstractAsyncContextManager[AuthService]]
Work = Callable[[AuthService], Awaitable[str]]
"""Does something and returns what to say about it."""


def make_commands(open_service: OpenService) -> click.Group:
    """Return the group of commands for one project, whose storage ``open_service`` opens."""

    def run(work: Work) -> None:
        async def main() -> str:
            async with open_service() as service:
                return await work(service)

        try:
            click.echo(trio.run(main))
        except ValueError as error:
            raise click.ClickException(str(error)) from error

    ask_password = click.password_option(help="The password; the default is to prompt for it.")

    @click.group(name="auth", help="Manage users and their sessions.")
    def group() -> None:
        """Hold the commands below."""

    @group.command(name="create-user", help="Create a user, even if registration is closed.")
    @click.argument("email")
    @ask_password
    def create_user(email: str, password: str) -> None:
        async def work(service: AuthService) -> str:
            user = await service.add_user(email, password)
            if user is None:
                raise ValueError(f"{email}: there is a user with this address already.")
            return f"Added {user.email}."

        run(work)

    @group.command(name="set-password", help="Set a user's password and end the user's sessions.")
    @click.argument("email")
    @ask_password
    def set_password(email: str, password: str) -> None:
        async def work(service: AuthService) -> str:
            user = await _find(service, email)
            await service.set_password(user, password)
            return f"Replaced the password of {user.email}."

        run(work)

    @group.command(name="end-sessions", help="End all sessions of a user.")
    @click.argument("email")
    def end_sessions(email: str) -> None:
        async def work(service: AuthService) -> str:
            user = await _find(service, email)
            return f"Ended {await service.log_out_everywhere(user.id)} sessions of {user.email}."

        run(work)

    _add_import(group, run)
    return group


def _add_import(group: click.Group, run: Callable[[Work], None]) -> None:
    """Add the command that imports accounts from a file."""

    @group.command(name="import", help="Import accounts from a separate SQLite file.")
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--again", is_flag=True, help="Import a file again that was imported before.")
    def import_file(file: Path, again: bool) -> None:
        async def work(service: AuthService) -> str:
            taken = await _take_over(service.storage, file, again=again)
            return f"{file}: {taken}. Keep the file as a backup, or delete it."

        run(work)


async def _find(service: AuthService, email: str) -> User:
    user = await service.find_user(email=email)
    if user is None:
        raise ValueError(f"{email}: there is no user with this address.")
    return user


async def _take_over(storage: AuthStorage, file: Path, *, again: bool) -> Taken:
    if not isinstance(storage, DatabaseStorage) or not storage.shared:
        raise ValueError("accounts are not in the app's database. Set 'database.url' first.")
    found = await find_former(file, again=again)
    if found is None:
        raise ValueError(f"{file}: empty, or imported before. Use '--again' to import it again.")
    async with storage.database.transaction():
        taken = await take_over(storage.database, found)
    await mark_moved(file)
    return taken
