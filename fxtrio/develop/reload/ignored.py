"""Which files of a project `fx dev` does not act on. Called by `watcher`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import attrs
from watchfiles import Change, DefaultFilter

from fxtrio.config import CONFIG_FILE, read_config
from fxtrio.git_ignore import GIT_FILE, Patterns, files_around
from fxtrio.manifest import FILE_NAME
from fxtrio.manifest import FOLDERS as DEVELOPMENT

INSTALLED = (
    "node_modules/.package-lock.json",  # npm
    "node_modules/.modules.yaml",  # pnpm
    "node_modules/.yarn-state.yml",
    "node_modules/.yarn-integrity",
)
"""What package managers write last, relative to the project folder."""

BUILT = f"{DEVELOPMENT['development']}/{FILE_NAME}"
"""Files whose absence means that the development build was removed, as by `git clean`."""

FOLDERS = frozenset((*DefaultFilter.ignore_dirs, ".fx", ".ruff_cache", ".nox", ".cache"))
"""Names of folders in which nothing ever matters, but for `INSTALLED`."""

ENVIRONMENT = "pyvenv.cfg"
"""A folder with this file in it is a virtual environment, and matters no more than `FOLDERS`."""

_ALWAYS = (
    *(f"{folder}/" for folder in sorted(FOLDERS)),
    # What tools write that look at a project, and package managers.
    "/coverage/",
    "/dist/",
    "/htmlcov/",
    "*.egg-info/",
    "pytest-cache-files-*/",
    "/coverage.*",
    "/junit*.xml",
    "*.prof",
    "*.pid",
    "*.tsbuildinfo",
    "*.out",
    "core.[0-9]*",
    "/tests/",
    "/venv/",
    # Files that the app itself writes; modules and what pages import may lie there, too.
    "/data/**",
    "!/data/**/*.py",
    "*.py[cod]",
    "*.sqlite3",
    "*.sqlite3-*",
    "*.sqlite",
    "*.sqlite-*",
    "*.db",
    "*.db-*",
    "*.log",
    # What editors write beside the file that is edited, and take away again.
    ".*",  # vim, kate, gedit, Emacs' locks
    "!.well-known/",
    "*~",
    "4913",  # vim, to see whether it may write
    r"\#*#",  # Emacs
    "*___jb_*___",  # JetBrains
    f"sed{'[A-Za-z0-9]' * 6}",
    "*.sw?",
    "*.tmp",
    "*.temp",
    "*.bak",
    "*.orig",
    "*.rej",
    "*.part",
    "*.crswap",  # browsers that save files
)
_NEVER = ("!/.env", "!/.env.*", *(f"!/{file}" for file in INSTALLED))
"""Settings and installations, which repositories mostly ignore."""


@attrs.define
class Ignored:
    """Says which files are ignored, by the patterns of Git.

    The last pattern that matches decides: first those of this module, then each `.gitignore`
    from the outermost folder of the repository inwards, then ``dev.ignore``. They are read
    again when one of their files changes.
    """

    root: Path
    """The project folder, without symbolic links in it."""

    _patterns: Patterns = attrs.field(init=False, factory=Patterns)
    _output: frozenset[tuple[int, int]] = attrs.field(
        init=False, factory=lambda: frozenset(_outputs())
    )
    """Device and inode of files that this process writes to: each line would be a change."""

    def __attrs_post_init__(self) -> None:
        """Read the patterns."""
        self.read()

    def read(self) -> None:
        """Read all patterns again."""
        config = read_config(self.root)[0]
        patterns = Patterns().of(self.root, _ALWAYS)
        for file in _git_files(self.root):
            patterns = patterns.of_file(file)
        self._patterns = patterns.of(self.root, (*_NEVER, *config.dev.ignore))

    def lets_pass(self, change: Change, path: str) -> bool:
        """Return whether the change of a file is to be acted on: a filter of watchfiles."""
        file = Path(path)
        if path == str(self.root / BUILT):
            return change is Change.deleted and not file.exists()
        if file.name == GIT_FILE or path == str(self.root / CONFIG_FILE):
            self.read()
        try:
            found = file.stat()
        except OSError:  # deleted
            return path == str(self.root / BUILT) or not self.covers(file)
        if (found.st_dev, found.st_ino) in self._output:
            return False
        # A folder stands for the files in it.
        is_folder = stat.S_ISDIR(found.st_mode)
        return not (self.covers(file, is_folder=is_folder) or self._is_installed(file))

    def _is_installed(self, file: Path) -> bool:
        """Whether a file is in a virtual environment; the project itself may be one."""
        inside = file.parents[: len(file.parts) - len(self.root.parts)]
        return any((one / ENVIRONMENT).exists() for one in (file, *inside) if one != self.root)

    def covers(self, file: Path, *, is_folder: bool = False) -> bool:
        """Return whether ``file``, an absolute path, is ignored."""
        return self._patterns.covers(file, is_folder=is_folder)


def _outputs() -> Iterator[tuple[int, int]]:
    for descriptor in (1, 2):
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            yield found.st_dev, found.st_ino


def _git_files(root: Path) -> Iterator[Path]:
    """Yield the `.gitignore` files that count in ``root``, outermost first."""
    yield from files_around(root)
    for place, folders, files in os.walk(root):
        is_environment = ENVIRONMENT in files and place != str(root)
        folders[:] = [] if is_environment else sorted(set(folders) - FOLDERS)
        if GIT_FILE in files:
            yield Path(place) / GIT_FILE
