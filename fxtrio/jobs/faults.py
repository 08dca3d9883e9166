"""Errors of durable jobs."""

from __future__ import annotations

from fxtrio.errors import FxtrioError


class JobError(FxtrioError):
    """The base of all errors of `fx.jobs`."""


class JobsNotRunning(JobError):
    """A job is enqueued where no app with a database runs."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name}.enqueue: durable jobs need a running app with a database. Set "
            "'database.url', and enqueue in loaders, actions, handlers and jobs."
        )


class JobArgumentsInvalid(JobError, TypeError):
    """The arguments of a job are not what JSON can hold."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(
            f"{name}.enqueue: the arguments are kept as JSON, and {cause}. Hand over str, "
            "int, float, bool, None, lists and dicts: an id, and not the object."
        )


class JobKeyInvalid(JobError, ValueError):
    """What ``unique`` gave for the arguments of a job is no key."""

    def __init__(self, name: str, key: object) -> None:
        super().__init__(
            f"{name}.enqueue: 'unique' gave {key!r:.100}. Return text without NUL and half "
            "surrogate pairs, or None."
        )


class JobTimeout(JobError):
    """A job took longer than its ``timeout``."""

    def __init__(self, name: str, timeout: float) -> None:
        super().__init__(f"{name}: it took longer than {timeout:g} s (timeout).")


class CronInvalid(JobError, ValueError):
    """The times of a schedule cannot be read."""

    def __init__(self, text: str, cause: str) -> None:
        super().__init__(
            f"@every({text!r}): {cause}. Write five fields, minute, hour, day, month and "
            "weekday, such as '0 3 * * *', and the name of a time zone."
        )
