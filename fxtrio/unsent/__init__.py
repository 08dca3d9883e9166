"""The budget of a process for what waits to be sent.

Begin with `budget`: what is counted, and who is cut off; `turns` lets small responses pass.
"""

from fxtrio.unsent.budget import (
    CAPACITY,
    GRACE,
    PATIENCE,
    PLACES,
    WAIT,
    Unsent,
    UnsentFull,
    process_unsent,
)
from fxtrio.unsent.holder import Holder
from fxtrio.unsent.turns import LIGHT
from fxtrio.unsent.unread import Unread

__all__ = [
    "CAPACITY",
    "GRACE",
    "LIGHT",
    "PATIENCE",
    "PLACES",
    "WAIT",
    "Holder",
    "Unread",
    "Unsent",
    "UnsentFull",
    "process_unsent",
]
