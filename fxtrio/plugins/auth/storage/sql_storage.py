"""Users, sessions and marks in a database of `fxtrio.db`: the app's, or a file of their own.

Every statement works on each engine. What the engine cannot do for now is an
AuthStorageUnavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs

from fxtrio.plugins.auth.errors import AuthInTransaction
from fxtrio.plugins.auth.models import Account, PendingRegistration, Session, User
from fxtrio.plugins.auth.passwords.passwords import MOST_COSTS
from fxtrio.plugins.auth.storage.queries import Queries
from fxtrio.plugins.auth.throttle import Marks


@attrs.frozen
class MarkRow:
    """When a bucket of the throttle is empty."""

    key: str
    empty_at: float


@attrs.frozen
class SessionRow:
    """A session with its user, as the columns of a query."""

    user_id: str
    email: str
    joined_at: float
    created_at: float
    expires_at: float
    ends_at: float
    persistent: int


@attrs.frozen
class CostRow:
    """The beginning of a hash, which has its parameters."""

    cost: str


@attrs.frozen
class AccountRow:
    """A user with the hash, as the columns of a query."""

    id: str
    email: str
    created_at: float
    password_hash: str


_AT_ONCE = 500  # keys in one query
_UNIQUE_VIOLATION = "23505"  # of PostgreSQL; SQLite has one writer

Answer = TypeVar("Answer")


class DatabaseStorage(Queries):
    """An `AuthStorage`. Valid as long as its database; created by `open_storage`."""

    async def add_user(self, user: User, password_hash: str) -> bool:
        """Keep a new user; False when the email is taken."""
        return await self._in_time(self._add_user, user, password_hash)

    async def _add_user(self, user: User, password_hash: str) -> bool:
        # A taken address is written as well, as it was: its time is that of a free one.
        sql = (
            "insert into fx_auth_users (id, email, password_hash, created_at)"
            " values ($1, $2, $3, $4)"
            " on conflict (email) do update set email = excluded.email returning id"
        )
        row = user.id, user.email, password_hash, user.created_at
        return bool(await self.database.value(self._named(sql), *row) == user.id)

    async def password_costs(self) -> tuple[str, ...]:
        """Return the beginnings of all hashes, up to their salts: by which parameters they are."""
        sql = (
            "select distinct case when password_hash like '$2%' then substr(password_hash, 1, 7)"
            # "…,p=4$", or "…,p=16": salts are of any length
            f" else substr(password_hash, 1, {self._position}(password_hash, ',p=') + 4) end"
            f" as cost from fx_auth_users limit {MOST_COSTS}"
        )
        found = await self._in_time(self.database.all, CostRow, self._named(sql))
        return tuple(row.cost.rstrip("$") + "$" for row in found)

    async def find_account(self, email: str) -> Account | None:
        """Return the account of an email."""
        found = await self._in_time(
            self._one,
            AccountRow,
            "select id, email, created_at, password_hash from fx_auth_users where email = $1",
            email,
        )
        if found is None:
            return None
        user = User(id=found.id, email=found.email, created_at=found.created_at)
        return Account(user=user, password_hash=found.password_hash)

    async def find_user(self, user_id: str) -> User | None:
        """Return a user."""
        sql = "select id, email, created_at from fx_auth_users where id = $1"
        return await self._in_time(self._one, User, sql, user_id)

    async def set_email(self, user_id: str, email: str) -> bool:
        """Give a user another email; False when another one has it, or there is none."""

        async def change() -> bool:
            changed = await self._execute(
                "update fx_auth_users set email = $1 where id = $2"
                " and not exists (select 1 from fx_auth_users where email = $1 and id <> $2)",
                *(email, user_id),
            )
            await self._count_change()
            return changed == 1

        try:
            return await self._in_one(change)
        except Exception as error:
            if getattr(error, "sqlstate", None) != _UNIQUE_VIOLATION:
                raise
            return False  # it was taken just now

    async def rehash(self, account: Account, password_hash: str) -> bool:
        """Keep another hash of the same password; False when the password has changed since."""
        change = "update fx_auth_users set password_hash = $1 where id = $2 and password_hash = $3"
        args = password_hash, account.user.id, account.password_hash
        return await self._in_time(self._execute, change, *args) == 1

    async def set_password(
        self,
        user_id: str,
        password_hash: str,
        *,
        replaces: str | None = None,
        keeps: bytes | None = None,
    ) -> int | None:
        """Replace the hash of a user's password, and end all sessions; return how many."""

        async def change() -> int | None:
            changed = await self._execute(
                "update fx_auth_users set password_hash = $1"
                " where id = $2 and password_hash = coalesce($3, password_hash)",
                *(password_hash, user_id, replaces),
            )
            if replaces is not None and not changed:
                return None
            over = "delete from fx_auth_sessions where user_id = $1 and key <> $2"
            ended = await self._execute(over, user_id, keeps or b"")
            await self._count_change()
            return ended

        return await self._in_one(change)

    async def remove_user(self, user_id: str) -> bool:
        """Forget a user, with all sessions; False when there is none."""
        ended = await self._ending("delete from fx_auth_users where id = $1", user_id)
        return ended == 1

    async def add_session(
        self, session: Session, *, proof: str, replaces: bytes | None, most: int
    ) -> bool:
        """Keep a session; end the one it replaces, those that are over, and the oldest."""

        async def add() -> bool:
            # One login of a user at a time, so that "most" holds.
            lock = " for update" if self._skip else ""
            known = "select password_hash from fx_auth_users where id = $1" + lock
            if await self.database.value(self._named(known), session.user_id) != proof:
                return False
            over = "select key from fx_auth_sessions where expires_at <= $1" + self._skip
            await self._execute(
                f"delete from fx_auth_sessions where key in ({over})", session.created_at
            )
            if replaces is not None:
                await self._execute("delete from fx_auth_sessions where key = $1", replaces)
            await self._draw_in(session)
            await self._insert(session)
            await self._execute(
                "delete from fx_auth_sessions where user_id = $1 and key not in (select key from"
                " fx_auth_sessions where user_id = $1 order by case when key = $2 then 0 else 1"
                " end, created_at desc limit $3)",
                *(session.user_id, session.key, most),
            )
            await self._count_change()
            return True

        return await self._in_one(add)

    async def _insert(self, session: Session) -> None:
        await self._execute(
            "insert into fx_auth_sessions (key, user_id, created_at, expires_at, ends_at,"
            " persistent) values ($1, $2, $3, $4, $5, $6)",
            *(session.key, session.user_id, session.created_at),
            *(session.expires_at, session.ends_at, int(session.persistent)),
        )

    async def _draw_in(self, session: Session) -> None:
        """Let no session outlast a new one: the clock has been set back since it began."""
        longer = "select key from fx_auth_sessions where expires_at > $1" + self._skip
        await self._execute(
            "update fx_auth_sessions set expires_at = $1,"
            f" ends_at = case when ends_at > $2 then $2 else ends_at end where key in ({longer})",
            *(session.expires_at, session.ends_at),
        )

    async def find_session(self, key: bytes, now: float) -> tuple[Session, User] | None:
        """Return a session that is not over at ``now``, with its user."""
        found = await self._in_time(
            self._one,
            SessionRow,
            "select user_id, email, fx_auth_users.created_at as joined_at,"
            " fx_auth_sessions.created_at, expires_at, ends_at, persistent from fx_auth_sessions"
            " join fx_auth_users on fx_auth_users.id = user_id where key = $1 and expires_at > $2",
            *(key, now),
        )
        if found is None:
            return None
        session = Session(
            key=key,
            user_id=found.user_id,
            created_at=found.created_at,
            expires_at=found.expires_at,
            ends_at=found.ends_at,
            persistent=bool(found.persistent),
        )
        return session, User(id=found.user_id, email=found.email, created_at=found.joined_at)

    async def extend_session(self, key: bytes, expires_at: float, ends_at: float) -> None:
        """Move the end of a session, if it still exists, and its last end forward only."""
        await self._ending(
            "update fx_auth_sessions set"
            " ends_at = case when ends_at > $2 then $2 else ends_at end,"
            " expires_at = case when ends_at < $1 and ends_at < $2 then ends_at"
            " when $1 < $2 then $1 else $2 end where key = $3",
            *(expires_at, ends_at, key),
        )

    async def live_sessions(self, keys: Sequence[bytes], now: float) -> dict[bytes, float]:
        """Return when those of ``keys`` end that are not over at ``now``."""

        async def read() -> dict[bytes, float]:
            live: dict[bytes, float] = {}
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                places = ", ".join(f"${number}" for number in range(2, len(some) + 2))
                rows = await self.database.all(
                    dict,
                    self._named(
                        "select key, expires_at from fx_auth_sessions"
                        f" where expires_at > $1 and key in ({places})"
                    ),
                    *(now, *some),
                )
                live.update((bytes(row["key"]), row["expires_at"]) for row in rows)
            return live

        return await self._in_time(read)

    async def version(self) -> int:
        """Return a number that changes when anybody has ended or moved a session."""
        return int(await self._in_time(self.database.value, "select changes from fx_auth"))

    async def end_session(self, key: bytes) -> None:
        """End one session; no matter if it is over already."""
        await self._ending("delete from fx_auth_sessions where key = $1", key)

    async def end_sessions(self, user_id: str) -> int:
        """End all sessions of a user; return how many there were."""
        return await self._ending("delete from fx_auth_sessions where user_id = $1", user_id)

    async def change_marks(
        self,
        keys: Sequence[str],
        change: Callable[[Marks], tuple[Marks, Answer]],
        now: float,
    ) -> Answer:
        """Read the marks of ``keys``, keep those ``change`` returns, and return its answer.

        Raises AuthInTransaction within a transaction of the application: what it undoes
        would be counted no more.
        """
        if self.database.in_transaction:
            raise AuthInTransaction

        async def move() -> Answer:
            if self._skip:  # marks that are not there yet cannot be locked
                for key in sorted(keys):
                    lock = "select pg_advisory_xact_lock(7225104, hashtext($1))"
                    await self._execute(lock, key)
            over = "select key from fx_auth_marks where empty_at <= $1" + self._skip
            await self._execute(f"delete from fx_auth_marks where key in ({over})", now)
            places = ", ".join(f"${number}" for number in range(2, len(keys) + 2))
            found = await self.database.all(
                MarkRow,
                self._named(
                    "select key, empty_at from fx_auth_marks"
                    f" where empty_at > $1 and key in ({places or 'null'})"
                ),
                *(now, *keys),
            )
            marks, answer = change({mark.key: mark.empty_at for mark in found})
            for key, empty_at in marks.items():
                await self._execute(
                    "insert into fx_auth_marks (key, empty_at) values ($1, $2)"
                    " on conflict (key) do update set empty_at = excluded.empty_at",
                    *(key, empty_at),
                )
            return answer

        return await self._in_one(move)

    async def add_pending(self, pending: PendingRegistration, now: float) -> None:
        """Keep a registration."""

        async def add() -> None:
            over = "select key from fx_auth_pending where expires_at <= $1" + self._skip
            await self._execute(f"delete from fx_auth_pending where key in ({over})", now)
            await self._execute(
                "insert into fx_auth_pending (key, email, password_hash, expires_at)"
                " values ($1, $2, $3, $4)",
                *(pending.key, pending.email, pending.password_hash, pending.expires_at),
            )

        await self._in_one(add)

    async def find_pending(self, key: bytes, now: float) -> PendingRegistration | None:
        """Return a registration that is not over."""
        return await self._in_time(
            self._one,
            PendingRegistration,
            "select key, email, password_hash, expires_at from fx_auth_pending"
            " where key = $1 and expires_at > $2",
            *(key, now),
        )

    async def confirm(self, pending: PendingRegistration, user: User) -> bool:
        """Turn a registration into a user."""

        async def add() -> bool:
            forget = "delete from fx_auth_pending where key = $1"
            deleted = await self._execute(forget, pending.key)
            await self._execute("delete from fx_auth_pending where email = $1", pending.email)
            return deleted == 1 and await self._add_user(user, pending.password_hash)

        return await self._in_one(add)
