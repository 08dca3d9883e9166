"""A client that a common generator makes of the document calls a server over a socket."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import copy_example, fx, served

pytestmark = pytest.mark.node


def generate(document: Path, folder: Path) -> None:
    """Make a client; a warning of the generator is a failure."""
    options = [
        "--path",
        str(document),
        "--output-path",
        str(folder),
        "--meta",
        "none",
        "--fail-on-warning",
    ]
    scripts = sysconfig.get_path("scripts")  # it formats with ruff, which must be on the PATH
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", *options],
        timeout=120,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_generated_client_signs_the_guestbook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_example("guestbook", tmp_path)
    (project / "fx.config.json").write_text('{"name": "Guestbook", "openapi": true}')
    document = tmp_path / "guestbook.json"
    fx("openapi", "--output", str(document), cwd=project)
    generate(document, tmp_path / "guestbook_client")
    monkeypatch.syspath_prepend(str(tmp_path))
    generated: Any = importlib.import_module("guestbook_client")
    models: Any = importlib.import_module("guestbook_client.models")
    sign: Any = importlib.import_module("guestbook_client.api.index.sign")
    token: Any = importlib.import_module("guestbook_client.api.default.csrf_token")
    fx("build", cwd=project)
    with served(project) as server, generated.Client(base_url=server.url) as client:
        entry = models.NewEntryInput(name="Ada", message="Hello from a generated client")
        unproven = sign.sync(client=client, body=entry)
        proof = token.sync(client=client).token
        signed = sign.sync(client=client, body=entry, x_csrf_token=proof)
        nameless = models.NewEntryInput(name="", message="Nobody")
        rejected = sign.sync(client=client, body=nameless, x_csrf_token=proof)
        form = models.SignDataBody(name="Grace", message="By a form")
        second = sign.sync(client=client, body=form, x_csrf_token=proof)
        html = client.get_httpx_client().get("/").text
        served_document = client.get_httpx_client().get("/openapi.json").json()

    assert served_document == json.loads(document.read_text("utf-8"))
    assert (unproven.ok, "CSRF" in unproven.error) == (False, True)
    assert (signed.ok, type(signed.number)) == (True, int)
    assert rejected.fields.additional_properties.keys() == {"name"}
    assert second.number == signed.number + 1
    assert "Hello from a generated client" in html and "By a form" in html
