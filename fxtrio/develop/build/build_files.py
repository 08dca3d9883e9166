"""What `fx dev` writes into the folder of its build: the halves of pages, and the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from fxtrio.atomic_write import make_folder, write_whole
from fxtrio.compile.build_steps import (
    has_same_manifest,
    make_manifest,
    remove_halves,
    remove_other_halves,
    write_halves,
)
from fxtrio.compile.bundling.bundle import BundleResult
from fxtrio.compile.bundling.editor_types import write_client_types
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.views import PlannedSite
from fxtrio.config import Config
from fxtrio.develop.processes.launch import Ahead
from fxtrio.manifest import FILE_NAME, FOLDERS, Manifest, dump_manifest


@attrs.define(eq=False)
class BuildFiles:
    """The files of one project's development build; of one writer at a time."""

    root: Path
    ahead: Ahead
    """A server that has begun with another manifest is ended."""

    manifest: Manifest | None = None
    """The one that was written last."""

    _written_from: tuple[CheckedProject | None, BundleResult | None] = (None, None)
    """What the manifest was made of."""

    postponed: dict[str, CheckedPage] = attrs.field(factory=dict)
    """Pages whose halves are still to be written, by source."""

    @property
    def folder(self) -> Path:
        """The folder of the build."""
        return self.root / FOLDERS["development"]

    def write_all(self, project: CheckedProject) -> None:
        """Write the halves of all pages, and delete those of others."""
        make_folder(self.folder)
        self.postponed.clear()
        write_halves(project.pages, self.folder)
        remove_other_halves(project.pages, self.folder)
        write_client_types(self.root)

    def write(self, pages: Iterable[CheckedPage], deleted: Iterable[str]) -> None:
        """Write the halves of ``pages``, and delete those of the files ``deleted``."""
        self.write_postponed()  # older ones
        write_halves(pages, self.folder)
        remove_halves(deleted, self.folder)

    def write_changed(
        self, pages: Mapping[str, CheckedPage], known: Mapping[str, CheckedPage]
    ) -> None:
        """Write the halves of the ``pages`` that differ from those that are ``known``.

        Those that are postponed are written later.
        """
        for one, page in pages.items():
            if self.postponed.get(one) != page:
                self.postponed.pop(one, None)  # an older one
        changed = [one for one, page in pages.items() if known.get(one) != page]
        write_halves([pages[one] for one in changed if one not in self.postponed], self.folder)

    def postpone(self, pages: Mapping[str, CheckedPage]) -> None:
        """Let `write_postponed` write the halves of ``pages``, and of no others."""
        self.write_postponed()
        self.postponed.update(pages)

    def write_postponed(self) -> None:
        """Write what is still to be written."""
        write_halves(self.postponed.values(), self.folder)
        self.postponed.clear()

    def has_manifest_of(self, project: CheckedProject, result: BundleResult | None) -> bool:
        """Return whether the manifest of ``project`` is the one that was written last."""
        before, its = self._written_from
        if before is None or its is None or its is not result:
            return False
        return has_same_manifest(project, before) and (self.folder / FILE_NAME).exists()

    def write_manifest(
        self, project: CheckedProject, site: PlannedSite, config: Config, result: BundleResult
    ) -> None:
        """Write the manifest, if it differs from the one that is there."""
        manifest = make_manifest(project, site, config, "development", result)
        file = self.folder / FILE_NAME
        if manifest != self.manifest or not file.exists():
            self.manifest = manifest
            if write_whole(file, dump_manifest(manifest, compact=True), lasting=False):
                self.ahead.end_begun()
        self._written_from = project, result
