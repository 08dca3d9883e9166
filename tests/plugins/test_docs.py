"""docs/reference/plugins.md: its project behaves as the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.config.errors import ConfigInvalid
from fxtrio.plugins import Plugin
from tests.plugins.pages import DOCS, rows, write_project

DOC = "reference/plugins.md"


async def test_the_mailer_of_the_page_sends_mail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(DOC, tmp_path)
    async with open_app(tmp_path) as client:
        invited = await client.action("/", "invite", {"email": "ada@example.org"})
        assert invited.data == {"sender": "app@example.org"}
    assert capsys.readouterr().out == "app@example.org to ada@example.org: Come along.\n"


async def test_a_wrong_setting_reads_as_the_page_says(tmp_path: Path) -> None:
    write_project(DOC, tmp_path)
    settings = {"sender": "app@example.org", "retryAfter": "soon"}
    plugins = [{"name": "mailer:Mailer", "settings": settings}]
    with pytest.raises(ConfigInvalid) as caught:
        async with open_app(tmp_path, plugins=plugins):
            raise AssertionError("must not start")
    (problem,) = caught.value.problems
    message = str(problem).partition(": ")[2]
    assert f"`{message}`" in (DOCS / DOC).read_text(encoding="utf-8")


def test_every_part_of_the_protocol_is_listed() -> None:
    listed = {row[0].strip("`").partition("(")[0] for row in rows(DOC, "Parts of a plugin")}
    public = {name for name in vars(Plugin) if not name.startswith("_")}
    assert listed == public | {"name"}
