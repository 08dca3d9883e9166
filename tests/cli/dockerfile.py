"""Runs a Dockerfile without Docker: its stages are folders, its commands run as they are written.

`/srv` and `/venv` stand for folders of the test; commands that only Linux images need, such as
`useradd`, do nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

STUBS = "useradd() { :; }; chown() { :; }\n"


@attrs.define
class Image:
    """A Dockerfile that is built in ``folder`` from the files of ``context``."""

    text: str
    context: Path
    folder: Path
    env: Mapping[str, str]
    stage: str = ""
    stages: list[str] = attrs.field(factory=list)

    def build(self) -> Path:
        """Run all stages, and return `/srv` of the last one."""
        joined = self.text.replace("\\\n", " ")
        for line in filter(None, map(str.strip, joined.splitlines())):
            name, _, rest = line.partition(" ")
            if name == "FROM":
                found = re.fullmatch(r"\S+(?: AS (\w+))?", rest)
                assert found is not None, line
                self.stage = found[1] or "last"
                self.srv.mkdir(parents=True)
                self.stages.append(self.stage)
            elif name == "COPY":
                self._copy(rest.split())
            elif name == "RUN":
                self._run(rest)
            else:
                assert name in ("WORKDIR", "ENV", "USER", "EXPOSE", "CMD"), line
        return self.srv

    @property
    def srv(self) -> Path:
        """`/srv` of the stage that is built."""
        return self.folder / self.stage / "srv"

    def placed(self, text: str, stage: str) -> str:
        """Return a text of the Dockerfile with the folders of the test."""
        text = text.replace("/venv", str(self.folder / "venv"))
        return text.replace("/srv", str(self.folder / stage / "srv"))

    def _copy(self, words: list[str]) -> None:
        options = [word for word in words if word.startswith("--")]
        *sources, target = (word for word in words if not word.startswith("--"))
        stages = [word.removeprefix("--from=") for word in options if word.startswith("--from=")]
        if target.startswith("/venv"):
            return  # the same folder in all stages: an environment cannot be moved
        for source in sources:
            if stages:
                self._copy_one(Path(self.placed(source, stages[0])), self.srv / target)
            elif source == ".":
                self._copy_one(self.context, self.srv)
            else:
                for path in self.context.glob(source):
                    copied = self.srv / target
                    self._copy_one(path, copied if path.is_dir() else copied / path.name)

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
        path = os.pathsep.join(
            [
                str(self.folder / "venv" / "bin"),
                str(Path(sys.executable).parent),
                os.environ["PATH"],
            ]
        )
        done = subprocess.run(
            ["bash", "-ec", STUBS + self.placed(command, self.stage)],
            cwd=self.srv,
            env={**os.environ, **self.env, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"RUN {command}\n{done.stdout}{done.stderr}"
