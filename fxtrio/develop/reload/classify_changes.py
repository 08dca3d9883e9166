"""Files that have changed → what each of them is to the project. Looks only whether they exist."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

import attrs

from fxtrio.compile.project import CheckedProject
from fxtrio.config import CONFIG_FILE, Config
from fxtrio.db.migrations.files import FOLDER as MIGRATIONS
from fxtrio.develop.reload.ignored import BUILT, INSTALLED
from fxtrio.routes.action_files import is_action_file

_POSTCSS = ("js", "cjs", "mjs", "ts", "cts", "mts")
_PACKAGES = frozenset(
    {"package.json", "tsconfig.json", "jsconfig.json", *INSTALLED}
    | {f"postcss.config.{kind}" for kind in _POSTCSS}
)
"""What Node reads once."""

_ROUTED = frozenset({".fxl", ".py", ".md"})


def read_packages(root: Path) -> bytes:
    """Return a digest of the files that say which packages are installed, and how."""
    digest = hashlib.sha256()
    for name in sorted(_PACKAGES):
        try:
            text = (root / name).read_bytes()
        except OSError:  # there is none
            text = b""
        digest.update(b"%d:" % len(text) + text)
    return digest.digest()


@attrs.frozen(kw_only=True)
class Sorted:
    """Paths relative to the project folder."""

    settings: tuple[str, ...] = ()
    """Everything restarts."""

    migrations: tuple[str, ...] = ()
    """The server process restarts, since the start runs them."""

    packages: tuple[str, ...] = ()
    """Node restarts."""

    structure: tuple[str, ...] = ()
    """Files and folders below the pages folder that came or went."""

    pages: tuple[str, ...] = ()
    """Page files that are known, and still there."""

    modules: tuple[str, ...] = ()
    """Python."""

    public: tuple[str, ...] = ()
    """Files that are served as they are."""

    files: tuple[str, ...] = ()
    """All others: what pages may import."""

    def with_others(self, sources: Collection[str]) -> Sorted:
        """Return the same with further page files, and modules of actions, to be read again."""
        actions = [one for one in sources if is_action_file(one)]
        pages = [one for one in sources if one not in actions]
        return attrs.evolve(
            self,
            structure=tuple(dict.fromkeys((*self.structure, *actions))),
            modules=tuple(dict.fromkeys((*self.modules, *actions))),
            pages=tuple(dict.fromkeys((*self.pages, *pages))),
        )


def sort_changes(
    root: Path, config: Config, project: CheckedProject, files: Iterable[str]
) -> Sorted:
    """Sort files of the project in ``root``, which was ``project`` before they changed."""
    tree = project.tree
    sources = frozenset(tree.sources)
    known = {*sources, *(api.source for api in tree.api), *tree.llms.values()}
    known |= {*tree.markdown.values(), *tree.models}
    including = [(page.module.source, page.included) for page in project.pages if page.included]
    acting = [PurePosixPath(module.source) for module in project.actions]
    groups: dict[str, list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        inside = path.is_relative_to(config.pages_dir)
        exists = (root / file).exists()
        routed = path.suffix in _ROUTED or (root / file).is_dir() or not (path.suffix or exists)
        if file in (CONFIG_FILE, BUILT) or file.startswith(".env"):
            group = "settings"
        elif path.parent.name == MIGRATIONS and path.suffix == ".sql" and len(path.parts) == 2:
            group = "migrations"
        elif file in _PACKAGES:
            group = "packages"
        elif inside and routed and exists != (file in known):
            group = "structure"
        elif any(path == one or path in one.parents for one in acting) or (
            exists and is_action_file(file)
        ):
            group = "structure"  # its actions may be others
        elif file in sources:
            group = "pages"
        elif path.is_relative_to(config.public_dir):
            group = "public"
        elif path.suffix == ".py":
            group = "modules"
        else:
            group = "files"
        groups.setdefault(group, []).append(file)
        if group == "structure" and path.suffix == ".py":
            groups.setdefault("modules", []).append(file)
        users = [source for source, included in including if file in included]
        groups.setdefault("pages", []).extend(
            one for one in users if one not in groups.get("pages", ())
        )
    # A page that changes in the same moment as another one comes is read with all others.
    return Sorted(**{group: tuple(found) for group, found in groups.items()})
