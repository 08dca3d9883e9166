"""How much a transaction sees of others, as `fx.db` and ``@action`` name it."""

from typing import Literal, get_args

Isolation = Literal["read committed", "repeatable read", "serializable"]
"""What a transaction may see of others, from the most to the least."""

LEVELS: tuple[Isolation, ...] = get_args(Isolation)
"""From the weakest to the strongest."""
