"""All that is private of trio here: the deadline under which another task runs.

Trio tells a task its own deadline (`trio.current_effective_deadline`), and nobody else. What this
relies on is tested against the installed version by `tests/observe/test_trio_internals.py`.
"""

from __future__ import annotations

from math import inf
from typing import Any

import trio


def deadline_of(task: trio.lowlevel.Task) -> float:
    """Return when ``task`` is cancelled, on the clock of its loop; -inf when it already is.

    inf where no deadline holds. Safe on any thread: it only reads.
    """
    status: Any = task._cancel_status
    deadline = inf
    while status is not None:
        scope = status._scope
        if scope._cancel_called:
            return -inf
        deadline = min(deadline, scope._deadline)
        if scope._shield:
            break
        status = status._parent
    return deadline
