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

import msgspec

from fxtrio.compression.accept_encoding import Coding
from fxtrio.compression.codings import SUFFIXES, smallest_first
from fxtrio.compression.eligibility import LEAST, is_text
from fxtrio.compression.encoding_cache import EncodingCache

_PUBLIC = "public"
_LISTING = "public.json"

_WORTH = 0.95
"""A compressed file that is not smaller than this part of its original is discarded."""


class CompressedFile(msgspec.Struct, frozen=True):
    """A file, and its encodings."""

    encodings: Mapping[Coding, Path]
    """The smallest first."""

    original: Path | None = None
    """Set if the file may change: `state` is that of the compressed original."""

    state: tuple[int, int] | None = None

    def find(self, coding: Coding) -> Path | None:
        """Return the file in one coding; None if the original has changed."""
        if self.original is not None and _state_of(self.original) != self.state:
            return None
        return self.encodings.get(coding)


Compressed = Mapping[str, CompressedFile]
"""By name: the path below its folder, with a leading slash."""


def compress_build(build: Path, client: str, public: Path, cache: EncodingCache) -> None:
    """Write the encodings of a build's files for browsers, and of the folder ``public``.

    ``client`` is the folder of the former in ``build``; ``cache`` has what earlier builds
    compressed. Raises OSError.
    """
    for path in map(Path, tuple(_files(build / client))):
        if path.suffix not in SUFFIXES.values() and path.suffix != ".map":
            _write_encodings(path, path, cache)
    digests = {}
    for path in map(Path, _files(public)):
        name = path.relative_to(public).as_posix()
        if _write_encodings(path, build / _PUBLIC / name, cache):
            digests[name] = _digest(path.read_bytes())
    (build / _LISTING).write_bytes(msgspec.json.encode(digests))


def find_assets(client: Path) -> Compressed:
    """Return the files of a build that also exist in an encoding."""
    files = set(_files(client))
    found = {}
    for path in files:
        encodings = _encodings(path, files)
        if encodings:
            name = path[len(str(client)) :].replace(os.sep, "/")
            found[name] = CompressedFile(encodings)
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
            encodings = _encodings(str(build / _PUBLIC / name), there)
            found[f"/{name}"] = CompressedFile(encodings, original, state)
    return found


def _files(folder: Path) -> Iterator[str]:
    """Yield the files of a folder, and no links that lead out of it: they are not served.

    Their paths are text, because a server looks at each file of a build before it answers.
    """
    inside = folder.resolve()
    for parent, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118
            if os.path.isfile(path) and (  # noqa: PTH113
                not os.path.islink(path)  # noqa: PTH114
                or Path(path).resolve().is_relative_to(inside)
            ):
                yield path


def _encodings(path: str, there: set[str]) -> dict[Coding, Path]:
    named = {coding: path + suffix for coding, suffix in SUFFIXES.items()}
    return {coding: Path(encoding) for coding, encoding in named.items() if encoding in there}


def _write_encodings(source: Path, target: Path, cache: EncodingCache) -> bool:
    """Write the encodings of one file that are worth it; return whether there are any."""
    if source.stat().st_size < LEAST or not is_text((guess_type(source)[0] or "").encode()):
        return False
    data = source.read_bytes()
    written = False
    for coding in smallest_first():
        encoding = cache.encode(coding, data)
        if len(encoding) < len(data) * _WORTH:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(target.name + SUFFIXES[coding]).write_bytes(encoding)
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
