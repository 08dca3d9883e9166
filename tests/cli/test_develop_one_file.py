"""The script of Node in one file, with which `fx dev` starts from the second time on."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from fxtrio.compile.bundling.installation import JS, LOCK, toolchain_folder
from fxtrio.develop.processes import early_node, one_file
from fxtrio.develop.processes.one_file import file_of, toolchain_in
from fxtrio.node import find_node
from tests.cli.test_develop_cached_files import CONTENTS

RUNTIME = JS / "develop/runtime"
MODULES = {
    "script.js": (
        "import fs from 'node:fs';\n"
        "import { url, text } from './inner/one.js';\n"
        "import two from './inner/two.cjs';\n"
        "console.log(JSON.stringify([import.meta.url, url, text, two, process.argv.slice(2)]));\n"
        "fs.readFileSync(new URL('./inner/three.json', import.meta.url));\n"
    ),
    "inner/one.js": (
        "export const url = import.meta.url;\nexport const text = 'import.meta.url, __dirname';\n"
    ),
    "inner/two.cjs": (
        "'use strict';\nconst path = require('node:path');\n"
        "module.exports = [path.basename(__dirname), require('./three.json').three];\n"
    ),
    "inner/three.json": '{"three": 3}',
}
STARTING = """
const { keepCommand } = await import(process.argv[3]);
keepCommand(process.argv[4]);
setInterval(() => {}, 1000);
"""

MAKING = """
const { keepCommand } = await import(process.argv[2]);
const counts = JSON.parse(process.argv[3]).map((started) => {
  process.argv = [process.execPath, ...started];
  const before = process.listenerCount('exit'); // one for each process that makes the file
  keepCommand('now');
  return process.listenerCount('exit') - before;
});
console.log(JSON.stringify(counts));
process.exit();
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "script.js"


@pytest.fixture
def file(tmp_path: Path, script: Path) -> Path:
    """The script in one file."""
    program = tmp_path / "kept/one.mjs"
    program.parent.mkdir()
    old, other = (program.with_name(f"develop-0000000{number}.mjs") for number in (1, 2))
    old.write_text(f"// {json.dumps({'script': str(tmp_path / 'gone.js')}, separators=(',', ':'))}")
    other.write_text(f"// {json.dumps({'script': str(script)}, separators=(',', ':'))}\n1;\n")
    ended, running = (
        program.with_name(f"{old.name}.{pid}.part") for pid in (2**22 + 1, os.getpid())
    )
    for part in (ended, running):
        part.write_text("// {")
    node("develop/runtime/bundle-command.js", script, program, toolchain_folder())
    assert not old.exists()
    assert not ended.exists()
    assert running.exists()  # another `fx dev` writes it
    assert other.exists()  # that of an installation which is still there
    return program


def node(script: str | Path, *arguments: object) -> str:
    command = [str(find_node().node), str(JS / script), *map(str, arguments)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.node
def test_one_file_does_what_its_modules_do_until_one_of_them_changes(
    file: Path, script: Path
) -> None:
    assert toolchain_in(file, script) == str(toolchain_folder())
    output = node(script, "an argument")
    assert json.loads(output)[3] == ["inner", 3]
    (script.parent / "inner/three.json").rename(script.parent / "three.json")
    assert toolchain_in(file, script) is None
    (script.parent / "three.json").rename(script.parent / "inner/three.json")
    assert node(file, "an argument") == output

    assert toolchain_in(file, script) == str(toolchain_folder())
    assert toolchain_in(file, script.with_name("other.js")) is None
    inner = script.parent / "inner/two.cjs"
    before = inner.stat()
    inner.touch()
    assert toolchain_in(file, script) is None
    os.utime(inner, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert toolchain_in(file, script) == str(toolchain_folder())

    whole = file.read_bytes()
    first, _, code = whole.partition(b"\n")
    head = json.loads(first.removeprefix(b"// "))
    head["files"][str(JS / LOCK)][1] += "0"  # another lock may stand for another toolchain
    file.write_bytes(b"// " + json.dumps(head).encode() + b"\n" + code)
    assert toolchain_in(file, script) is None
    for length in range(0, len(whole), 29):
        file.write_bytes(whole[:length])
        assert toolchain_in(file, script) is None, length
    for name, content in CONTENTS.items():
        file.write_bytes(content)
        assert toolchain_in(file, script) is None, name
    file.unlink()
    assert toolchain_in(file, script) is None


@pytest.mark.node
def test_node_keeps_its_own_script_and_starts_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, starting = tmp_path / "one.mjs", tmp_path / "starting.mjs"
    starting.write_text(STARTING)
    places = (file, RUNTIME / "command.js", toolchain_folder())
    with subprocess.Popen([str(find_node().node), str(starting), *map(str, places)]) as process:
        give_up = time.monotonic() + 60
        while not file.exists() and time.monotonic() < give_up:
            assert process.poll() is None
            time.sleep(0.05)  # there is no event to wait for from outside
        process.kill()
    script = JS / "develop/main.js"
    assert toolchain_in(file, script) == str(toolchain_folder())
    assert node(file, file, toolchain_folder()) == ""  # its input has ended
    assert node(file, file, tmp_path / "removed") == ""

    ways = {
        file: [str(file), str(file), str(toolchain_folder())],
        tmp_path / "none.mjs": [str(script), str(tmp_path / "none.mjs")],
    }
    for found, expected in ways.items():
        monkeypatch.setattr(one_file, "file_of", lambda _, found=found: found)
        with early_node.start_node(find_node().node, tmp_path) as started:
            arguments = started.args
            started.kill()
        assert isinstance(arguments, list)
        assert arguments[1:] == expected


@pytest.mark.node
def test_node_makes_the_file_unless_it_has_just_loaded_that_toolchain_from_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "making.mjs").write_text(MAKING)
    file, main = str(tmp_path / "one.mjs"), str(JS / "develop/main.js")
    ways = {
        (main, file): 1,
        (file, file, "now"): 0,
        (file, file, "before"): 1,  # else every start would load two toolchains
        (main,): 0,
    }
    output = node(tmp_path / "making.mjs", RUNTIME / "command.js", json.dumps(list(ways)))
    assert json.loads(output) == list(ways.values())


def test_each_installation_has_its_own_file(tmp_path: Path) -> None:
    assert file_of(tmp_path / "a/main.js") != file_of(tmp_path / "b/main.js")
