"""What `fx serve` warns of at its start."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from fxtrio.cli.serve import channels_apart, name_of_folder, serve_options, warn_at_start
from fxtrio.config import Config, RealtimeConfig, load_config
from fxtrio.manifest import Assets, Manifest, PageModule

MEMORY = Config()
REDIS = Config(realtime=RealtimeConfig(broker="redis://localhost"))


def manifest(*, websocket: bool) -> Manifest:
    module = PageModule(source="pages/live.fxl", websocket=websocket)
    return Manifest(
        build_id="0",
        mode="production",
        base_url="",
        modules={"pages/index.fxl": PageModule(source="pages/index.fxl"), module.source: module},
        views=(),
        routes=(),
        api=(),
        not_found={},
        llms={},
        markdown={},
        assets=Assets(base="/_fx/"),
    )


@pytest.mark.parametrize(
    ("config", "websocket", "workers", "warned"),
    [
        (MEMORY, True, 2, True),
        (MEMORY, True, 1, False),
        (MEMORY, False, 2, False),
        (REDIS, True, 2, False),
    ],
)
def test_websockets_in_several_processes_need_a_broker_that_reaches_all(
    config: Config, websocket: bool, workers: int, warned: bool
) -> None:
    message = channels_apart(manifest(websocket=websocket), config, workers)

    assert message.startswith("pages/live.fxl: it serves WebSockets, in 2 processes") is warned
    assert bool(message) is warned


def test_the_warning_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    options = serve_options(
        MEMORY,
        tmp_path,
        "",
        host="127.0.0.1",
        port=0,
        bind=(),
        workers=2,
        access_log=None,
        log_level="WARNING",
    )
    # The levels are put back: the log of the process is opened with one.
    with caplog.at_level(logging.WARNING, "fx"), caplog.at_level(logging.WARNING):
        warn_at_start(manifest(websocket=True), MEMORY, options, root=tmp_path)

    [record] = caplog.records
    assert (record.name, record.levelname) == ("fx.serve", "WARNING")
    assert "set 'realtime.broker' to a URL of Redis or PostgreSQL" in record.getMessage()


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"realtime": {"broker": "redis://localhost"}}, ["realtime.broker"]),
        ({"realtime": {"broker": "postgresql://localhost/a"}}, ["realtime.broker"]),
        ({"realtime": {"broker": "redis://localhost"}, "name": "20261122"}, []),
        ({"realtime": {"broker": "redis://localhost?prefix=shop"}}, []),
        ({"rateLimitStorage": "redis://localhost"}, []),
        (
            {
                "rateLimitStorage": "redis://localhost",
                "rateLimits": [{"route": "/", "limit": "1/hour"}],
            },
            ["rateLimitStorage"],
        ),
        ({}, []),
    ],
)
def test_an_app_on_a_shared_store_wants_a_name_of_its_own(
    tmp_path: Path, settings: dict[str, Any], warned: list[str]
) -> None:
    root = tmp_path / "20261122"
    root.mkdir()
    (root / "fx.config.json").write_text(json.dumps(settings))
    message = name_of_folder(root, load_config(root, environ={}))

    assert [key for key in ("realtime.broker", "rateLimitStorage") if key in message] == warned
    assert ("its folder, '20261122'. Set 'name'" in message) is bool(warned)
