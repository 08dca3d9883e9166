"""A repository each of whose files leaves a mark when a program that opens it runs its code."""

from __future__ import annotations

import json
from pathlib import Path

from tests.trees import write_tree

MODULES = (
    "attrs",
    "click",
    "contextlib",
    "conftest",
    "dotenv",
    "fx_shadow",
    "json",
    "msgspec",
    "sitecustomize",
    "starlette",
    "trio",
    "usercustomize",
)
"""Python files beside the pages, by the names of what commands import."""

PAGE = """\
import marks

@server
async def load(request):
    return {"x": 1}

export default function Page({data}) { return <p>{ data.x }</p> }
"""


class HostileRepository:
    """A project in ``root``; each of its marks is a file in another folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.marks = folder / "marks"
        self.marks.mkdir()
        write_tree(self.root, {**self._python(), **self._javascript(), **self._settings()})
        run = self.root / "node_modules" / ".bin"
        run.mkdir(parents=True)
        for name in ("node", "npm", "prettier", "ruff", "tsc"):
            (run / name).write_text(f"#!/bin/sh\ntouch {self.marks}/bin-{name}\n")
            (run / name).chmod(0o755)

    def left(self) -> set[str]:
        """Return the marks that were left since the last call, and remove them."""
        found = sorted(self.marks.iterdir())
        for mark in found:
            mark.unlink()
        return {mark.name for mark in found}

    def _py(self, name: str) -> str:
        return f"open({str(self.marks / name)!r}, 'w').close()\n"

    def _js(self, name: str) -> str:
        return f"require('node:fs').writeFileSync({json.dumps(str(self.marks / name))}, '');\n"

    def _python(self) -> dict[str, str]:
        return {
            "pages/index.fxl": PAGE,
            "marks.py": self._py("page"),
            "pages/api/ping.py": self._py("endpoint") + "async def get(request): ...\n",
            "app.py": self._py("app") + "from fxtrio import create_app\napp = create_app('.')\n",
            "plugin.py": self._py("plugin") + _PLUGIN,
            "mypy_plugin.py": self._py("mypy-plugin"),
            **{f"{name}.py": self._py(f"beside-{name}") for name in MODULES},
        }

    def _javascript(self) -> dict[str, str]:
        module = f"{self._js('js')}module.exports = {{}};\n"
        return {
            "evil.cjs": self._js("node-options"),
            ".prettierrc.cjs": self._js("prettierrc") + "module.exports = {};\n",
            "prettier-plugin.cjs": self._js("prettier-plugin") + "module.exports = {};\n",
            "vite.config.js": self._js("vite-config"),
            "postcss.config.cjs": self._js("postcss-config") + "module.exports = {};\n",
            "node_modules/prettier/package.json": json.dumps({"main": "index.cjs"}),
            "node_modules/prettier/index.cjs": self._js("own-prettier") + module,
            "node_modules/evil-plugin/package.json": json.dumps({"main": "index.cjs"}),
            "node_modules/evil-plugin/index.cjs": self._js("tsconfig-plugin"),
            "node_modules/react/package.json": json.dumps({"main": "index.cjs"}),
            "node_modules/react/index.cjs": self._js("react"),
        }

    def _settings(self) -> dict[str, str]:
        scripts = ("preinstall", "install", "postinstall", "prepare", "build")
        return {
            ".env": f"NODE_OPTIONS=--require={self.root}/evil.cjs\n"
            f"PYTHONPATH={self.root}\nPYTHONSTARTUP={self.root}/click.py\n"
            f"LD_PRELOAD={self.root}/evil.so\nXDG_CACHE_HOME={self.root}/cache\n"
            f"XDG_CONFIG_HOME={self.root}/config\nnpm_config_script_shell={self.root}/evil.sh\n"
            "FX_NAME=Hostile\n",
            ".npmrc": f"script-shell={self.root}/node_modules/.bin/npm\n",
            "old/page.pyxl": "import React from 'react';\n",
            "fx.config.json": json.dumps({"plugins": ["plugin.Evil"]}),
            "package.json": json.dumps(
                {
                    "scripts": dict.fromkeys(scripts, f"touch {self.marks}/script"),
                    "dependencies": {"next": "16"},
                }
            ),
            "tsconfig.json": json.dumps(
                {"compilerOptions": {"plugins": [{"name": "evil-plugin"}]}}
            ),
            "pyproject.toml": '[tool.mypy]\nplugins = ["mypy_plugin.py"]\n[tool.ruff]\n'
            "line-length = 100\n",
            "setup.cfg": "[metadata]\nname = evil\n",
        }


_PLUGIN = """
from fxtrio.plugins import Plugin


class Evil(Plugin):
    name = "evil"
"""
