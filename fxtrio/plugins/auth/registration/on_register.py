"""The app's function for new accounts: ``onRegister`` of the settings.

The account and the function's own writes are committed together, or not at all.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import trio

from fxtrio.errors import PlacedError
from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage
from fxtrio.serve.request.model.validate import BodyModel, body_model

OWN = frozenset({"email", "password", "next", "remember", "token", "_csrf_token"})
"""Fields of the endpoints themselves, which the function does not get."""

_REMOVING = 5.0
"""Seconds for taking an account back whose function has failed."""


class OnRegisterUnusable(PlacedError):
    """The function of ``onRegister`` cannot be called with a user."""

    remedy = (
        "Write 'async def on_register(user)', or with a model of the form's other fields: "
        "'async def on_register(user, profile: Profile)'"
    )

    def __init__(self, name: str) -> None:
        cause = f"'onRegister' is {name!r}, which is not an async function of a user"
        super().__init__("the auth plugin", cause)


@attrs.frozen(kw_only=True, eq=False)
class Beginning:
    """The function, and how it is called."""

    call: Callable[..., Awaitable[object]]
    takes_fields: bool
    model: BodyModel | None
    """What the fields become; None: a dict."""

    storage: DatabaseStorage

    def read(self, fields: Mapping[str, Any], *, is_form: bool) -> tuple[Any, ...]:
        """Return what the function gets besides the user. Raises ValidationActionError."""
        if not self.takes_fields:
            return ()
        field_values = {name: value for name, value in fields.items() if name not in OWN}
        return (field_values if self.model is None else self.model.build(field_values, is_form),)

    async def keep(
        self, user: User, keep: Callable[[], Awaitable[bool]], field_values: tuple[Any, ...]
    ) -> bool:
        """Keep an account by ``keep``; if that was done, call the function, and return True.

        In one transaction, where accounts are in the app's database. Otherwise the account is
        taken back when the function raises, which goes on to the caller.
        """
        if self.storage.shared:
            async with self.storage.database.transaction():
                stored = await keep()
                if stored:
                    await self.call(user, *field_values)
                return stored
        if not await keep():
            return False
        try:
            await self.call(user, *field_values)
        except BaseException:
            with trio.move_on_after(_REMOVING, shield=True):
                await self.storage.remove_user(user.id)
            raise
        return True


def beginning_of(function: Any, name: str, storage: DatabaseStorage) -> Beginning:
    """Return how ``function``, which the settings name ``name``, is called.

    Raises OnRegisterUnusable, and FieldsImpossible for a class that no form can fill.
    """
    if not inspect.iscoroutinefunction(function):
        raise OnRegisterUnusable(name)
    parameters = list(inspect.signature(function).parameters.values())
    if not 1 <= len(parameters) <= 2:
        raise OnRegisterUnusable(name)
    takes_fields = len(parameters) > 1
    model = None
    if takes_fields:
        model = body_model(typing.get_type_hints(function).get(parameters[1].name))
    return Beginning(call=function, takes_fields=takes_fields, model=model, storage=storage)
