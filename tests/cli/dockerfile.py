"""Runs a Dockerfile without Docker: its stages are folders, its commands run as they are written.

`/srv` and `/app` stand for folders of the test, which has an environment of its own in `venv`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import attrs

_PLACES = re.compile(r"(?<![\w.-])/(srv|app)(?=[/\s]|$)")
_OWNER = re.compile(r" -o \d+")
"""Of the folders that `install` makes: only root may give folders away."""


@attrs.define
class Image:
    """A Dockerfile that is built in ``folder`` from the files of ``context``."""

    text: str
    context: Path
    folder: Path
    env: Mapping[str, str]
    functions: str = ""
    """Functions of the shell that take the place of programs."""

    stage: str = ""
    stages: list[str] = attrs.field(factory=list)
    command: list[str] = attrs.field(factory=list)
    """The `CMD` of the last stage, in its folders."""

    work: str = "/"

    def build(self) -> None:
        """Run all stages."""
        joined = self.text.replace("\\\n", " ")
        for line in filter(None, map(str.strip, joined.splitlines())):
            name, _, rest = line.partition(" ")
            if name == "FROM":
                found = re.fullmatch(r"\S+(?: AS (\w+))?", rest)
                assert found is not None, line
                self.stage = found[1] or "last"
                self.work = "/"
                self.srv.mkdir(parents=True)
                self.stages.append(self.stage)
            elif name == "WORKDIR":
                self.work = rest
                self.placed(rest).mkdir(exist_ok=True)
            elif name == "COPY":
                self._copy(rest.split())
            elif name == "RUN":
                self._run(rest)
            elif name == "CMD":
                self.command = [self._in_folders(word) for word in json.loads(rest)]
            else:
                assert name in ("ENV", "USER", "EXPOSE"), line

    @property
    def srv(self) -> Path:
        """`/srv` of the stage that is built."""
        return self.placed("/srv")

    def placed(self, path: str, stage: str = "") -> Path:
        """Return the folder of the test for a path of an image."""
        whole = PurePosixPath(self.work, path)
        return self.folder / (stage or self.stage) / whole.relative_to("/")

    def _in_folders(self, text: str) -> str:
        return _PLACES.sub(lambda found: str(self.placed(found[0])), text)

    def _copy(self, words: list[str]) -> None:
        options = [word for word in words if word.startswith("--")]
        *sources, target = (word for word in words if not word.startswith("--"))
        stages = [word.removeprefix("--from=") for word in options if word.startswith("--from=")]
        place = self.placed(target)
        if stages and stages[0] not in self.stages:
            return  # an image with programs, which this machine has
        for source in sources:
            if stages:
                self._copy_one(self.placed(source, stages[0]), place)
            elif source == ".":
                self._copy_one(self.context, place)
            else:
                for path in self.context.glob(source):
                    self._copy_one(path, place if path.is_dir() else place / path.name)

    def _copy_one(self, source: Path, target: Path) -> None:
        if source.is_dir():
            ignored = shutil.ignore_patterns(*self._ignored(source))
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(source, target)

    def _ignored(self, source: Path) -> list[str]:
        if source != self.context:
            return []
        lines = (self.context / ".dockerignore").read_text("utf-8").splitlines()
        return [line.removeprefix("**/") for line in lines if line]

    def _run(self, command: str) -> None:
        venv, own = self.folder / "venv" / "bin", Path(sys.executable).parent
        path = os.pathsep.join([str(venv), str(own), os.environ["PATH"]])
        script = self.functions + self._in_folders(_OWNER.sub("", command))
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=self.placed(self.work),
            env={**os.environ, **self.env, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"RUN {command}\n{done.stdout}{done.stderr}"
