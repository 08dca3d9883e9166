"""Tracebacks of failures begin in the application's code, and keep what it called."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio

from fxtrio.develop.reload.import_graph import noting_imports
from fxtrio.tracebacks import is_application, trimmed


def application(folder: Path, text: str, name: str = "pages/index.fxl") -> dict[str, Any]:
    names: dict[str, Any] = {"json": json, "trio": trio}
    exec(compile(text, str(folder / name), "exec"), names)
    return names


def failure_of(function: Callable[..., object], *args: object) -> BaseException:
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError("it did not fail")


def files_of(error: BaseException) -> list[str]:
    return [Path(frame.filename).name for frame in traceback.extract_tb(error.__traceback__)]


def test_what_called_the_application_is_cut_and_what_it_called_stays(tmp_path: Path) -> None:
    page = application(tmp_path, "async def load():\n    json.loads('{')\n")
    error = failure_of(trio.run, page["load"])

    assert "_run.py" in files_of(error)
    assert files_of(trimmed(error))[:2] == ["index.fxl", "__init__.py"]
    assert files_of(error)[-1] == "decoder.py"


def test_a_page_in_a_traceback_has_the_frames_of_the_application_around_it(tmp_path: Path) -> None:
    page = application(tmp_path, "async def load():\n    1 / 0\n")
    text = "async def guarded():\n    await load()\nrun = lambda: trio.run(guarded)\n"
    module = application(tmp_path, text, "guards.py")
    module["load"] = page["load"]
    error = failure_of(module["run"])

    assert files_of(error)[1] == "guards.py"
    assert files_of(trimmed(error)) == ["guards.py", "index.fxl"]


def test_frames_of_the_framework_between_those_of_the_application_can_be_hidden(
    tmp_path: Path,
) -> None:
    (tmp_path / "imported.py").write_text("1 / 0\n")
    text = "import sys\ndef use():\n    sys.path.insert(0, folder)\n    import imported\n"
    module = application(tmp_path, text, "uses.py")
    module |= {"folder": str(tmp_path), "__file__": str(tmp_path / "uses.py")}
    with noting_imports(tmp_path):
        error = failure_of(module["use"])
    sys.path.remove(str(tmp_path))

    assert "import_graph.py" in files_of(error)
    assert files_of(trimmed(error))[-2:] == ["uses.py", "imported.py"]


def test_without_a_page_it_begins_with_the_first_file_of_the_application(tmp_path: Path) -> None:
    module = application(tmp_path, "async def job():\n    json.loads('{')\n", "jobs.py")

    async def worker() -> None:
        await module["job"]()

    traceback_ = failure_of(trio.run, worker).__traceback__
    error = ValueError().with_traceback(traceback_ and traceback_.tb_next)  # without this file
    assert files_of(trimmed(error))[:2] == [Path(__file__).name, "jobs.py"]


def test_a_failure_without_any_frame_of_the_application_keeps_all(tmp_path: Path) -> None:
    async def nothing() -> None: ...

    page = application(tmp_path, "def f(): ...\n")
    error = failure_of(trio.run, page["f"])  # not async: trio refuses it
    before = files_of(error)[1:]

    error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
    assert files_of(trimmed(error)) == before


def test_causes_and_groups_are_trimmed_too(tmp_path: Path) -> None:
    page = application(
        tmp_path,
        "async def one():\n    raise ValueError\n"
        "async def load():\n"
        "    try:\n"
        "        async with trio.open_nursery() as nursery:\n"
        "            nursery.start_soon(one)\n"
        "    except BaseExceptionGroup as group:\n"
        "        raise KeyError('x') from group\n",
    )
    error = trimmed(failure_of(trio.run, page["load"]))

    group = error.__cause__
    while isinstance(group, BaseExceptionGroup):
        assert files_of(group)[0] == "index.fxl"
        assert [files_of(inner)[0] for inner in group.exceptions] == ["index.fxl"]
        group = group.exceptions[0]
    assert isinstance(group, ValueError)


def test_errors_that_cause_one_another_end(tmp_path: Path) -> None:
    one, other = ValueError(), KeyError()
    one.__context__, other.__context__ = other, one

    assert trimmed(one) is one


def test_installed_packages_are_libraries_and_page_files_never_are() -> None:
    assert not is_application(trio.__file__)
    assert not is_application(json.__file__)
    assert not is_application("<frozen importlib._bootstrap>")
    assert not is_application(str(Path(__file__).parent.parent / "fxtrio/app.py"))
    assert is_application(str(Path(trio.__file__).parent / "pages/index.fxl"))
    assert is_application("/srv/shop/app.py")
