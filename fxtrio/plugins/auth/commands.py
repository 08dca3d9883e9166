"""``fx auth``: users and sessions from the command line, without a running app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import click
import trio

from fxtrio.plugins.auth.emails import canonical_email
from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.service import AuthService

OpenService = Callable[[], AbstractAsyncContextManager[AuthService]]


def make_commands(open_service: OpenService) -> click.Group:
    """Return the group of commands for one project, whose database ``open_service`` opens."""

    def run(work: Callable[[AuthService], Awaitable[str]]) -> None:
        async def main() -> str:
            async with open_service() as service:
                return await work(service)

        try:
            click.echo(trio.run(main))
        except ValueError as error:
            raise click.ClickException(str(error)) from error

    ask_password = click.password_option(help="Asked for when it is not given.")

    @click.group(name="auth", help="Manage users and their sessions.")
    def group() -> None:
        """Hold the commands below."""

    @group.command(name="create-user", help="Add a user, also while registration is closed.")
    @click.argument("email")
    @ask_password
    def create_user(email: str, password: str) -> None:
        async def work(service: AuthService) -> str:
            user = await service.add_user(email, password)
            if user is None:
                raise ValueError(f"{email}: there is a user with this address already.")
            return f"Added {user.email}."

        run(work)

    @group.command(name="set-password", help="Replace a password; ends all sessions of the user.")
    @click.argument("email")
    @ask_password
    def set_password(email: str, password: str) -> None:
        async def work(service: AuthService) -> str:
            user = await _find(service, email)
            await service.set_password(user, password)
            return f"Replaced the password of {user.email}."

        run(work)

    @group.command(name="end-sessions", help="Sign a user out everywhere.")
    @click.argument("email")
    def end_sessions(email: str) -> None:
        async def work(service: AuthService) -> str:
            user = await _find(service, email)
            return f"Ended {await service.log_out_everywhere(user.id)} sessions of {user.email}."

        run(work)

    return group


async def _find(service: AuthService, email: str) -> User:
    account = await service.storage.find_account(canonical_email(email) or "")
    if account is None:
        raise ValueError(f"{email}: there is no user with this address.")
    return account.user
