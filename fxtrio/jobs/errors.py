"""Errors of durable jobs."""

from __future__ import annotations

from fxtrio.errors import PlacedError


class JobError(PlacedError):
    """The base of all errors of `fx.jobs`."""


class JobsNotRunning(JobError):
    """A job is enqueued where no app with a database runs."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"{name}.enqueue", cause)


class JobArgumentsInvalid(JobError, TypeError):
    """The arguments of a job cannot be encoded as JSON."""

    remedy = "Pass str, int, float, bool, None, lists and dicts: an id, and not the object"

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"{name}.enqueue", f"the arguments are stored as JSON, and {cause}")


class JobArgumentsMismatch(JobError, TypeError):
    """The arguments of a job do not fit its function.

    Raised by `enqueue`. For a waiting job the cause is another version of the code, as during
    a rollout: the job is released, and the attempt is not counted.
    """

    remedy = "Give new parameters a default for as long as older jobs wait"

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(name, f"the arguments do not fit its function: {cause}")


class JobKeyInvalid(JobError, ValueError):
    """The ``unique`` function of a job returned an invalid key."""

    remedy = "Return a string without NUL and lone surrogates, or None"

    def __init__(self, name: str, key: object) -> None:
        super().__init__(f"{name}.enqueue", f"'unique' returned {key!r:.100}")


class JobTimeout(JobError):
    """A job took longer than its ``timeout``."""

    def __init__(self, name: str, timeout: float) -> None:
        super().__init__(name, f"it took longer than {timeout:g} s (timeout)")


class CronInvalid(JobError, ValueError):
    """The times of a schedule are invalid."""

    remedy = (
        "Write five fields, minute, hour, day, month and weekday, such as '0 3 * * *', and the "
        "name of a time zone"
    )

    def __init__(self, text: str, cause: str) -> None:
        super().__init__(f"@every({text!r})", cause)
