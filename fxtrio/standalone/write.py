"""`write_standalone`: a build in, a folder out that is served by Python alone.

It has the build, the files of the project that it needs, the installed packages, and a script that
starts it. The app is imported from there before the folder takes its place, so that a missing file
is found now and not on the server. Called by `fx build`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from fxtrio.compile.plurals import counted
from fxtrio.compile.publish.replace_folder import (
    open_staging,
    put_in_place,
    why_irreplaceable,
)
from fxtrio.config import Config
from fxtrio.config.code_names import code_names
from fxtrio.errors import PlacedError, display_path
from fxtrio.manifest import FOLDERS, Manifest
from fxtrio.standalone.imported import collection_files, follow_imports
from fxtrio.standalone.packages import copy_package, copy_uninstalled, needed_packages

MARK = ".fx-standalone"
"""The file by which a folder is known to be such a build, which another one may replace."""

LOCK = "files.sha256"
"""The SHA-256 of each file of the folder, as `sha256sum` writes and checks it."""

_BESIDE = ("fx.config.json", "app.py", "migrations", "content")
"""Files and folders of a project that an app reads while it runs, if they are there."""

_NOT_SERVED = shutil.ignore_patterns("ui", "__pycache__")

_LONGEST_CHECK = 120
"""Time in which the app must have been imported (seconds)."""

_RAISED = re.compile(r"[A-Za-z_][\w.]*: ")
"""The line of a traceback that names the exception; notes may stand behind it."""

_SCRIPT = '''\
#!/usr/bin/env python3
"""Run a command of fxtrio for the app in this folder: `python run.py serve --host 0.0.0.0`.

`python run.py --verify` compares all files with `{lock}`.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = {version!r}
LOCK = HERE / {lock!r}

if sys.version_info[:2] != BUILT:
    made, runs = (".".join(map(str, one)) for one in (BUILT, sys.version_info[:2]))
    sys.exit(f"run.py: built for Python {{made}}, and this is {{runs}}. Build it with {{runs}}.")
sys.path[0] = str(HERE / "packages")
others = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([sys.path[0], *others]))
os.chdir(HERE / "app")

def wrong_files():
    """Yield each file that is not as it was built, with what is wrong."""
    from hashlib import file_digest

    lines = LOCK.read_text(encoding="utf-8").splitlines()
    known = dict(reversed(line.split("  ", 1)) for line in lines)
    for name, digest in known.items():
        try:
            with (HERE / name).open("rb") as file:
                if file_digest(file, "sha256").hexdigest() != digest:
                    yield f"{{name}}: was changed"
        except OSError as error:
            yield f"{{name}}: {{error.strerror}}"
    for folder in ("packages", "app/.fx"):
        for file in sorted((HERE / folder).rglob("*")):
            name = file.relative_to(HERE).as_posix()
            if name not in known and not (file.is_dir() and not file.is_symlink()):
                yield f"{{name}}: was added"


if sys.argv[1:] == ["--verify"]:
    wrong = list(wrong_files())
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)
elif sys.argv[1:] == ["--check"]:  # which also writes the bytecode of all that is imported
    import fxtrio.cli.group
    import fxtrio.cli.serve
    import fxtrio.server.supervise.server_process
    from fxtrio import create_app

    create_app(HERE / "app")
else:
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.dont_write_bytecode = True
    from fxtrio.cli import main

    main()
'''


class StandaloneFailed(PlacedError):
    """The app cannot be imported from its standalone folder, or the folder is none of its own."""


@attrs.frozen
class Standalone:
    """A folder that was written."""

    folder: Path
    files: tuple[str, ...]
    """Python files of the project, relative to it, in order."""

    packages: tuple[str, ...]
    """``name==version`` of each."""

    changed: Mapping[str, tuple[str, ...]]
    """The files that are not as they were installed, by the name of their package."""

    def warnings(self) -> Iterator[str]:
        """Yield a line for each package that was changed."""
        for package, (first, *others) in self.changed.items():
            named = f"{first} and {counted(len(others), 'other file')}" if others else first
            yield f"{package} was changed after its installation: {named}. It is copied as it is."


def require_replaceable(folder: Path, root: Path) -> None:
    """Raise StandaloneFailed unless ``folder`` may be replaced: new, empty, or such a build."""
    reason = why_irreplaceable(folder, root, mark=MARK, command="fx build --standalone")
    if reason is not None:
        raise StandaloneFailed(display_path(folder), *reason)


def write_standalone(
    root: Path, config: Config, manifest: Manifest, folder: Path, *, include: Sequence[str] = ()
) -> Standalone:
    """Write the standalone form of the build in ``root`` into ``folder``, which it replaces.

    Both are absolute. ``include`` are patterns of further files, relative to the project. Raises
    StandaloneFailed and OSError; ``folder`` stays as it was then.
    """
    require_replaceable(folder, root)
    build = root / FOLDERS["production"]
    imported = follow_imports(root, _starts(root, build, manifest), modules_of(config))
    with open_staging(folder) as staging:
        app, target = staging / "app", staging / "packages"
        shutil.copytree(build, app / FOLDERS["production"], ignore=_NOT_SERVED)
        read = collection_files(root, imported.files)
        for source in {*imported.files, *read, *_others(root, config, manifest, include)}:
            if folder not in source.parents and build not in source.parents:
                _copy(source, app / source.relative_to(root))
        target.mkdir(parents=True)
        packages = needed_packages(imported.packages, node=not manifest.is_static)
        changed = {
            package.name: tuple(files)
            for package in packages
            if (files := copy_package(package, target))
        }
        copy_uninstalled(sorted(imported.packages), target)
        named = tuple(f"{one.name}=={one.version}" for one in packages)
        lines = [
            f"{line}  # changed since: {', '.join(files)}" if files else line
            for line, package in zip(named, packages, strict=True)
            for files in [changed.get(package.name)]
        ]
        (staging / "requirements.lock").write_text("\n".join([*lines, ""]))
        script = _SCRIPT.format(version=tuple(sys.version_info[:2]), lock=LOCK)
        (staging / "run.py").write_text(script)
        (staging / MARK).touch()
        _check(staging)
        _let_everybody_read(staging)
        (staging / LOCK).write_text(_digests(staging), encoding="utf-8")
        put_in_place(staging, folder)
    files = sorted(file.relative_to(root).as_posix() for file in imported.files)
    return Standalone(
        folder, tuple(one for one in files if not one.startswith(".fx")), named, changed
    )


def _starts(root: Path, build: Path, manifest: Manifest) -> Iterator[Path]:
    """Yield the files that the framework imports by itself."""
    for module in manifest.modules.values():
        if module.code is not None:
            yield build / module.code
    for source in (
        *(route.source for route in manifest.api),
        *(module.source for module in manifest.actions),
        *manifest.llms.values(),
    ):
        yield root / source
    if (root / "app.py").is_file():
        yield root / "app.py"


def modules_of(config: Config) -> Iterator[str]:
    """Yield the modules that the settings name."""
    for _setting, name in code_names(config):
        yield name.replace(":", ".")


def _others(
    root: Path, config: Config, manifest: Manifest, include: Iterable[str]
) -> Iterator[Path]:
    """Yield the files that are read while the app runs."""
    for source in manifest.markdown.values():
        yield root / source
    for name in (*_BESIDE, config.public_dir):
        path = root / name
        if path.is_file():
            yield path
        else:
            yield from (file for file in path.rglob("*") if _is_copied(file))
    for pattern in include:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            cause = f"{pattern!r} is outside of the project"
            raise StandaloneFailed("--include", cause, "Name files relative to its folder")
        named = list(root.glob(pattern)) if Path(pattern).parts else []
        found = [file for file in named if _is_copied(file)]
        for folder in [one for one in named if one.is_dir()]:
            found += [file for file in folder.rglob("*") if _is_copied(file)]
        if not found:
            remedy = "Name files relative to the project, such as 'data/*.csv'"
            raise StandaloneFailed("--include", f"{pattern!r} matches no file", remedy)
        yield from found


def _let_everybody_read(folder: Path) -> None:
    """Drop what a strict umask has left: the server may run as any user."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _digests(folder: Path) -> str:
    """Return the lines of the lock, by name."""
    lines = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        with file.open("rb") as content:
            digest = file_digest(content, "sha256").hexdigest()
        lines.append(f"{digest}  {file.relative_to(folder).as_posix()}\n")
    return "".join(lines)


def _is_copied(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts and "node_modules" not in file.parts


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def _check(staging: Path) -> None:
    """Import the app in a process that has nothing else. Raises StandaloneFailed."""
    with TemporaryDirectory(prefix="fxtrio-standalone-") as home:
        passed = ("PATH", "LANG", "SYSTEMROOT", "TZ")
        environment = {name: os.environ[name] for name in passed if name in os.environ}
        environment |= {name: value for name, value in os.environ.items() if name[:3] == "FX_"}
        environment |= {"HOME": home, "FX_MODE": "production"}
        environment.setdefault("FX_SECRET_KEY", "0" * 64)
        run = [sys.executable, "-S", str(staging / "run.py"), "--check"]
        try:
            done = subprocess.run(
                run, env=environment, capture_output=True, timeout=_LONGEST_CHECK, text=True
            )
        except subprocess.TimeoutExpired:
            cause = f"importing the app has taken more than {_LONGEST_CHECK} seconds"
            raise StandaloneFailed(
                "app", cause, "Do that work in the lifespan of a plugin"
            ) from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["it has failed"]
        raised = [line for line in lines if _RAISED.match(line)] or lines
        cause = f"it cannot be imported from the standalone folder: {raised[-1].rstrip('.')}"
        remedy = "If a file of the project is missing, name it with --include"
        place = _place(lines, staging)
        raise StandaloneFailed(place, cause, remedy)


def _place(lines: Sequence[str], staging: Path) -> str:
    """Return the last line of the project that a traceback names."""
    inside = f'  File "{staging / "app"}{os.sep}'
    for line in reversed(lines):
        if line.startswith(inside):
            path, _, rest = line.removeprefix(inside).partition('", line ')
            return f"{path}:{rest.partition(',')[0]}"
    return "app"
