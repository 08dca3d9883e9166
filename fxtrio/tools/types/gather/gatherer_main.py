"""Starts the import of a project for its types, as ``python -m`` of this module."""

from __future__ import annotations

import gc


def main() -> None:
    """Answer one order. No garbage is collected: the process ends with its answer."""
    gc.disable()
    # Heavy: some tenths of a second.
    from fxtrio.tools.types.gather.gatherer_child import answer_order

    answer_order()


if __name__ == "__main__":
    main()
