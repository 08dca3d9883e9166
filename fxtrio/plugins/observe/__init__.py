"""Shows in production what runs, under whom and where it waits: the observe plugin.

Name it ``"observe"`` in ``plugins``. `fxtrio.observe` takes the tree; `plugin` says who may ask.
"""

from fxtrio.plugins.observe.plugin import ObservePlugin, ObserveSettings

__all__ = ["ObservePlugin", "ObserveSettings"]
