"""The OpenAPI document of a project under development, refreshed when nothing else is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import trio

from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.manifest import FOLDERS

_LATER = 0.5  # seconds after a change: the screen comes first


@attrs.define(eq=False)
class DescribedLater:
    """Keeps the document of a development build."""

    _describing: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def look_later(
        self, root: Path, config: Config, nursery: trio.Nursery, report: Callable[[str], None]
    ) -> None:
        """Describe the project as it is in a task of ``nursery``.

        A newer version takes the place of one that is under way.
        """
        self._describing.cancel("there is a newer version")
        self._describing = trio.CancelScope()
        if config.is_described:
            nursery.start_soon(_describe, self._describing, root, config, report)


async def _describe(
    scope: trio.CancelScope, root: Path, config: Config, report: Callable[[str], None]
) -> None:
    from fxtrio.tools.openapi.describe import describe_into

    with scope:
        await trio.sleep(_LATER)
        try:
            await describe_into(root, config, root / FOLDERS["development"])
        except (FxtrioError, OSError) as error:
            report(f"/openapi.json is unchanged. {error}")
