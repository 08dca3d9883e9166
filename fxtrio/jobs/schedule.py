"""The next and the last time of a schedule. Pure; times are seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import attrs

from fxtrio.jobs.errors import CronInvalid


@attrs.frozen
class Schedule:
    """Times of day and calendar in a time zone. Created by `Schedule.read`."""

    times: str
    zone: ZoneInfo

    @classmethod
    def read(cls, times: str, tz: str) -> Schedule:
        """Return a schedule. Raises CronInvalid."""
        from cronsim import CronSim, CronSimError  # only needed for schedules

        try:
            zone = ZoneInfo(tz)
        except (ValueError, OSError, LookupError) as error:
            raise CronInvalid(times, f"there is no time zone {tz!r}") from error
        if len(times.split()) != 5:
            raise CronInvalid(times, f"it has {len(times.split())} fields")
        try:
            CronSim(times, datetime(2024, 1, 1, tzinfo=zone))
        except CronSimError as error:
            raise CronInvalid(times, str(error)) from error
        return cls(times, zone)

    def after(self, moment: float) -> float:
        """Return the first time after ``moment``."""
        return self._first(moment, reverse=False)

    def before(self, moment: float) -> float:
        """Return the last time before ``moment``."""
        return self._first(moment, reverse=True)

    def _first(self, moment: float, *, reverse: bool) -> float:
        from cronsim import CronSim

        start = datetime.fromtimestamp(moment, UTC).astimezone(self.zone)
        found: datetime = next(CronSim(self.times, start, reverse=reverse))
        return found.timestamp()
