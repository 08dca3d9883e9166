"""Several processes answer with one sum, which never falls."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxtrio.plugins.metrics.snapshot import Family, Sampled, Snapshot, add_up, as_text
from fxtrio.plugins.metrics.worker_files import MetricsFolderUnusable, open_worker_files


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


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
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
