"""The bookings of benches. Functions that write use the transaction of their caller.

An hour is written as ``2026-11-23T09``, in the time zone of the workshop.
"""

import secrets
import time
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import attrs

from fx.db import db
from fx.jobs import job
from fx.realtime import publish
from fx.runtime import ActionError
from fx.tasks import enqueue

ZONE = ZoneInfo("Europe/Berlin")
BENCHES = {"lathe": "Lathe", "laser": "Laser cutter", "printer": "3D printer", "loom": "Loom"}
HOURS = range(9, 18)
HOLD = 600
"""How long a slot is held for a user who has not confirmed it (seconds)."""

NOTICE = 3600
"""How long before the booked hour the user is reminded (seconds)."""


@attrs.frozen
class Booking:
    bench: str
    hour: str
    id: str
    user_id: str
    who: str
    held_until: float
    confirmed: bool
    note: str
    sketch: bool
    reminded: bool


ALL = """
    select bookings.*, sketches.booking is not null as sketch, sent is not null as reminded
    from bookings left join sketches on sketches.booking = bookings.id
    left join reminders on reminders.booking = bookings.id
"""


async def of_day(day: date) -> list[Booking]:
    return await db.all(Booking, f"{ALL} where substr(hour, 1, 10) = $1", day.isoformat())


async def of_user(user) -> list[Booking]:
    return await db.all(Booking, f"{ALL} where user_id = $1 order by hour, bench", user.id)


async def find(bench: str, hour: str) -> Booking | None:
    return await db.one(Booking, f"{ALL} where bench = $1 and hour = $2", bench, hour)


async def hold(user, bench: str, hour: str) -> None:
    """Hold a free slot for ten minutes. Of several concurrent requests, one succeeds."""
    if bench not in BENCHES or not is_open(hour):
        raise ActionError("This slot cannot be booked.", 422)
    booking = secrets.token_hex(8)
    taken = await db.execute(
        "insert into bookings (bench, hour, id, user_id, who, held_until)"
        " values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        *(bench, hour, booking, user.id, user.email.partition("@")[0], time.time() + HOLD),
    )
    if not taken:
        raise ActionError("Somebody else was faster: this slot is taken.", 409)
    await expire.enqueue(booking, delay=HOLD)
    notify_boards(hour)


async def confirm(user, bench: str, hour: str, note: str, sketch: tuple[str, bytes] | None) -> None:
    """Turn a hold into a booking; ``sketch`` is a content type and an image."""
    booking = await db.value(
        "update bookings set confirmed = 1, note = $1 where bench = $2 and hour = $3"
        " and user_id = $4 and confirmed = 0 returning id",
        *(note, bench, hour, user.id),
    )
    if booking is None:
        raise ActionError("You no longer hold this slot. Go back to the board, and try again.", 409)
    if sketch is not None:
        sql = "insert into sketches (booking, type, content) values ($1, $2, $3)"
        await db.execute(sql, booking, *sketch)
    left = (starts(hour) - datetime.now(ZONE)).total_seconds()
    await remind.enqueue(booking, delay=max(0, left - NOTICE))
    notify_boards(hour)


async def release(user, bench: str, hour: str) -> None:
    """Cancel a hold or a booking."""
    mine = "delete from bookings where bench = $1 and hour = $2 and user_id = $3"
    if await db.execute(mine, bench, hour, user.id):
        notify_boards(hour)


@job(atomic=True)
async def expire(booking: str) -> None:
    """Free the slot of a hold that nobody has confirmed."""
    held = "delete from bookings where id = $1 and confirmed = 0 returning hour"
    hour = await db.value(held, booking)
    if hour is not None:
        notify_boards(hour)


@job(atomic=True)
async def remind(booking: str) -> None:
    """Remind the user once. A real app would send a mail here."""
    hour = await db.value("select hour from bookings where id = $1", booking)
    if hour is not None:
        sql = "insert into reminders (booking, sent) values ($1, $2) on conflict do nothing"
        await db.execute(sql, booking, time.time())
        notify_boards(hour)


def notify_boards(hour: str) -> None:
    """Notify all open boards once the change is committed."""
    db.after_commit(enqueue, publish, "board", {"day": hour[:10]})


def starts(hour: str) -> datetime:
    return datetime.strptime(hour, "%Y-%m-%dT%H").replace(tzinfo=ZONE)


def hour_of(day: date, hour: int) -> str:
    return f"{day.isoformat()}T{hour:02}"


def is_open(hour: str) -> bool:
    """Return whether the workshop is open at an hour, and the hour has not begun."""
    try:
        begins = starts(hour)
    except ValueError:
        return False
    return begins.hour in HOURS and begins > datetime.now(ZONE)


def day_of(text: str | None) -> date:
    """Return the day in a query parameter, or today if it is missing or invalid."""
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        return datetime.now(ZONE).date()


def beside(day: date, days: int) -> str:
    return (day + timedelta(days)).isoformat()
