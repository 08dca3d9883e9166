"""The `fx` command: one file for each of its commands.

Begin with `group`, which imports a command when it is called. `import_check` is what `fx check`
learns by importing a project. The processes that `fx dev` starts are no commands.
"""

from fxtrio.cli.exit_codes import INTERRUPTED

TYPE_CHECKING = False  # typing takes long to import, and Ctrl-C would show a traceback

if TYPE_CHECKING:
    from fxtrio.cli.group import main as main

__all__ = ["main"]

if not TYPE_CHECKING:  # for which every name would exist then

    def __getattr__(name: str) -> object:
        """Import what ``name`` stands for."""
        if name == "main":
            try:
                from fxtrio.cli.group import main
            except KeyboardInterrupt:  # it takes a moment, in which nothing has begun
                raise SystemExit(INTERRUPTED) from None
            return main
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
