"""Jobs of an app that breaks what simulations look for."""

from fx.jobs import job


@job
async def mail() -> None:
    """Do nothing."""


@job(retries=0)
async def break_down() -> None:
    raise ValueError("nobody reads this")
