"""Several processes answer with one sum, which never falls."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.plugins.metrics.app_state import LoopDelay
from fxtrio.plugins.metrics.listener import HEAD, LIMIT, MOST, run_listener
from fxtrio.plugins.metrics.plugin import PUBLISHED, Metrics
from fxtrio.plugins.metrics.snapshot import Family, Sampled, Snapshot, add_up, as_text
from fxtrio.plugins.metrics.worker_files import MetricsFolderUnusable, open_worker_files
from tests.ports import free_port
from tests.trees import page, write_tree


def counted(requests: float, open_now: float = 0.0) -> Snapshot:
    return [
        Family("done", "counter", "", [Sampled("done_total", {"route": "/"}, requests)]),
        Family("open", "gauge", "", [Sampled("open", {}, open_now)]),
    ]


def values(snapshot: Snapshot) -> dict[str, float]:
    return {sample.name: sample.value for family in snapshot for sample in family.samples}


def test_each_process_answers_for_all(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with open_worker_files(folder) as one, open_worker_files(folder) as two:
        assert values(one.gather(counted(2, 1))) == {"done_total": 2, "open": 1}
        assert values(two.gather(counted(5, 3))) == {"done_total": 7, "open": 4}
        assert values(one.gather(counted(2, 0))) == {"done_total": 7, "open": 3}


def test_what_a_process_has_counted_outlives_it_and_its_gauges_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with open_worker_files(folder) as one:
        for number in range(3):
            with open_worker_files(folder) as other:
                other.publish(counted(10, 1))
            assert values(one.gather(counted(1))) == {
                "done_total": 1 + 10 * (number + 1),
                "open": 0,
            }

        names = {file.name for file in folder.iterdir()}
        assert names == {"ended.json", "turn.lock", f"{one.name}.json", f"{one.name}.lock"}


def test_one_process_listens_and_another_takes_over(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with open_worker_files(folder) as one, open_worker_files(folder) as two:
        claimed = one.claim_serving()
        assert claimed is not None
        assert two.claim_serving() is None
        os.close(claimed)
        again = two.claim_serving()
        assert again is not None
        os.close(again)


def test_a_link_in_place_of_the_folder_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "shared").symlink_to(tmp_path)
    with pytest.raises(MetricsFolderUnusable, match="is not a folder of this user"):
        with open_worker_files(tmp_path / "shared"):
            pass


def test_gauges_that_mean_nothing_in_sum_are_not_added_up() -> None:
    info = [Family("python_info", "gauge", "", [Sampled("python_info", {"major": "3"}, 1)])]

    assert values(add_up([info, info])) == {"python_info": 1}


def test_the_text_is_that_of_prometheus() -> None:
    assert as_text(counted(2, 1)).decode().splitlines() == [
        "# HELP done_total ",
        "# TYPE done_total counter",
        'done_total{route="/"} 2.0',
        "# HELP open ",
        "# TYPE open gauge",
        "open 1.0",
    ]


async def test_metrics_without_their_folder_end_nothing(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path) as client:
        with open_worker_files(tmp_path / "shared") as files:
            metrics = Metrics(client.app.state.fx, [LoopDelay()], files, None)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(metrics.publish_often, files)
                await trio.sleep(PUBLISHED * 2)
                shutil.rmtree(files.folder)  # as what tidies up temporary files does
                await trio.sleep(PUBLISHED * 2)
                text = await metrics.text()
                nursery.cancel_scope.cancel()

    assert b"fx_loop_delay_seconds" in text
    messages = {record.getMessage() for record in caplog.records if record.name == "fx.app"}
    assert messages == {f"metrics: {files.folder} cannot be used: No such file or directory"}


async def test_a_scrape_that_fails_or_stalls_leaves_the_listener_as_it_is(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    failing = True

    async def answer() -> bytes:
        if failing:
            raise RuntimeError("a metric without a name")
        return b"x" * 10_000_000

    async def scrape() -> bytes:
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            return b"".join([part async for part in stream])

    port = free_port()
    autojump_clock.autojump_threshold = 0.1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_listener, f"127.0.0.1:{port}", "/metrics", answer, None)
        await trio.testing.wait_all_tasks_blocked()
        failed = await scrape()
        failing = False
        stalled = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(MOST)]
        for stream in stalled[: MOST // 2]:  # half of them ask and do not read
            await stream.send_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        began = trio.current_time()
        whole = await scrape()  # once those are out of time that have not asked
        waited = trio.current_time() - began
        for stream in stalled:
            await stream.aclose()
        nursery.cancel_scope.cancel()

    assert failed.startswith(b"HTTP/1.1 500 ")
    assert b"without a name" not in failed
    assert HEAD <= waited < LIMIT
    assert whole.startswith(b"HTTP/1.1 200 ") and whole.endswith(b"x")
    assert "the metrics cannot be read" in caplog.text
