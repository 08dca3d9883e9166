"""The budget of a process for what waits to be sent.

Begin with `budget`: what is counted, and who is cut off; `turns` lets small responses pass.
"""

from fxtrio.send_budget.budget import (
    CAPACITY,
    GRACE,
    PATIENCE,
    PLACES,
    WAIT,
    Unsent,
    UnsentFull,
    process_unsent,
)
from fxtrio.send_budget.client import Holder
from fxtrio.send_budget.client_backlog import Unread
from fxtrio.send_budget.turns import LIGHT

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
