"""Precompressed files: `fx build` writes them, the server reads them.

Those of a build are beside their originals. Those of the project's public folder are in the
build folder, with a digest of the original: a file that changed after the build is sent
uncompressed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from mimetypes import guess_type
from pathlib import Path

import attrs
import msgspec

from fxtrio.compression.accept_encoding import Coding
from fxtrio.compression.codings import SUFFIXES, smallest_first
from fxtrio.compression.eligibility import LEAST, is_text
from fxtrio.compression.form_cache import FormCache

_PUBLIC = "public"
_LISTING = "public.json"

_WORTH = 0.95
"""A compressed file that is not smaller than this part of its original is discarded."""


@attrs.frozen
class CompressedFile:
    """A file, and its compressed forms."""

    forms: Mapping[Coding, Path]
    """The smallest first."""

    original: Path | None = None
    """Set if the file may change: `state` is that of the compressed original."""

    state: tuple[int, int] | None = None

    def find(self, coding: Coding) -> Path | None:
        """Return the file in one coding; None if the original has changed."""
        if self.original is not None and _state_of(self.original) != self.state:
            return None
        return self.forms.get(coding)


Compressed = Mapping[str, CompressedFile]
"""By name: the path below its folder, with a leading slash."""


def compress_build(build: Path, client: str, public: Path, forms: FormCache) -> None:
    """Write the compressed forms of a build's files for browsers, and of the folder ``public``.

    ``client`` is the folder of the former in ``build``; ``forms`` has what earlier builds
    compressed. Raises OSError.
    """
    for path in tuple(_files(build / client)):
        if path.suffix not in SUFFIXES.values() and path.suffix != ".map":
            _write_forms(path, path, forms)
    digests = {}
    for path in _files(public):
        name = path.relative_to(public).as_posix()
        if _write_forms(path, build / _PUBLIC / name, forms):
            digests[name] = _digest(path.read_bytes())
    (build / _LISTING).write_bytes(msgspec.json.encode(digests))


def find_assets(client: Path) -> Compressed:
    """Return the files of a build that also exist in a compressed form."""
    files = set(_files(client))
    found = {}
    for path in files:
        forms = _forms(path, files)
        if forms:
            found["/" + path.relative_to(client).as_posix()] = CompressedFile(forms)
    return found


def find_public(build: Path, public: Path) -> Compressed:
    """Return the files of ``public`` that are compressed in ``build``, and are still the same."""
    try:
        digests = msgspec.json.decode((build / _LISTING).read_bytes(), type=dict[str, str])
    except FileNotFoundError:  # a build of `fx dev`
        return {}
    there = set(_files(build / _PUBLIC))
    found = {}
    for name, digest in digests.items():
        original = public / name
        state = _state_of(original)
        if state is not None and _digest(original.read_bytes()) == digest:
            forms = _forms(build / _PUBLIC / name, there)
            found[f"/{name}"] = CompressedFile(forms, original, state)
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, and no links that lead out of it: they are not served."""
    inside = folder.resolve()
    for path in folder.rglob("*"):
        if path.is_file() and path.resolve().is_relative_to(inside):
            yield path


def _forms(path: Path, there: set[Path]) -> dict[Coding, Path]:
    named = {coding: path.with_name(path.name + SUFFIXES[coding]) for coding in smallest_first()}
    return {coding: form for coding, form in named.items() if form in there}


def _write_forms(source: Path, target: Path, forms: FormCache) -> bool:
    """Write the forms of one file that are worth it; return whether there are any."""
    if source.stat().st_size < LEAST or not is_text((guess_type(source)[0] or "").encode()):
        return False
    data = source.read_bytes()
    written = False
    for coding in smallest_first():
        form = forms.encode(coding, data)
        if len(form) < len(data) * _WORTH:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(target.name + SUFFIXES[coding]).write_bytes(form)
            written = True
    return written


def _state_of(path: Path) -> tuple[int, int] | None:
    """Return the size and time of a file; None if it does not exist."""
    try:
        found = os.stat(path)  # noqa: PTH116  # twice as fast
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
