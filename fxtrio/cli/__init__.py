"""The `fx` command: one file for each of its commands.

Begin with `group`, which imports a command when it is asked for. `develop` is what `fx dev`
is made of, `trial` what `fx check` learns by importing a project.
"""

from fxtrio.cli.group import main

__all__ = ["main"]
