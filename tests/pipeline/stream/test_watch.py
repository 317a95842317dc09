"""A watched folder ends with the tables that the batch makes of the finished files, however often it was killed."""

from __future__ import annotations

import io
import json
import random
import re
import signal
import threading

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.stream.query import Latest
from rebalance_kit.pipeline.stream.watch import Watch, WatchOptions, run_watch, stop_signals
from rebalance_kit.view.reports.watch_page import describe_watch, write_page
from tests.support.pipeline.growing import Growing, chunks, commits, kill_hard, started_watch, until, written

pytestmark = pytest.mark.spark

#: When a watch is killed: between landing and storing, between two stored batches (20 random moments: scripts/endurance.py).
MOMENTS = (
    lambda checkpoint, before: chunks(checkpoint) > before[0],
    lambda checkpoint, before: commits(checkpoint) > before[1],
)


@pytest.mark.parametrize(
    "moments", [MOMENTS[:1], pytest.param(MOMENTS, marks=pytest.mark.long)], ids=["once", "twice"]
)
def test_a_watch_that_is_killed_writes_the_tables_of_the_batch(spark, runs_folder, tmp_path, moments):
    from rebalance_kit.pipeline.command import run_logs

    dice, logs, checkpoint = random.Random(5), tmp_path / "logs", tmp_path / "state"
    growing = Growing([runs_folder / "crash-2x4.eager.4.3.1"], logs, dice)
    for moment in moments:
        growing.grow(40_000)
        before = chunks(checkpoint), commits(checkpoint)
        process = started_watch(logs, checkpoint, tmp_path / "watch.log")
        try:
            until(lambda: moment(checkpoint, before), process)  # noqa: B023 - waited for within the turn
        finally:
            kill_hard(process)
    growing.finish()
    seen, out = [], io.StringIO()
    options = WatchOptions(tmp_path / "streamed", checkpoint, once=True, on_update=seen.append)
    assert run_watch(logs, options, out) == 0
    assert run_logs([logs], tmp_path / "batch", out=io.StringIO()) == 0
    streamed, batch = written(spark, tmp_path / "streamed"), written(spark, tmp_path / "batch")
    assert streamed == batch
    assert batch["rebalances"]
    assert seen[-1].rebalances == len(batch["rebalances"])
    assert f"tables written to {tmp_path / 'streamed'}" in out.getvalue()


def test_a_checkpoint_is_one_watch_s_and_one_folder_s(spark, tmp_path):
    for name in ("logs", "others"):
        (tmp_path / name).mkdir()
    second = Watch(spark, tmp_path / "logs", tmp_path / "state")
    with (
        Watch(spark, tmp_path / "logs", tmp_path / "state"),
        pytest.raises(DataError, match="another watch uses the checkpoint"),
    ):
        second.__enter__()
    with pytest.raises(DataError, match=r"belongs to .*logs, not to .*others"):
        Watch(spark, tmp_path / "others", tmp_path / "state").__enter__()
    with pytest.raises(DataError, match="is no folder"):
        Watch(spark, tmp_path / "missing", tmp_path / "state")


def test_a_store_of_an_earlier_version_is_refused_by_name(spark, tmp_path):
    (tmp_path / "logs").mkdir()
    with Watch(spark, tmp_path / "logs", tmp_path / "state"):
        pass
    with Watch(spark, tmp_path / "logs", tmp_path / "state"):
        pass  # the same version goes on
    note = tmp_path / "state" / "watch.json"
    noted = json.loads(note.read_text())
    for version in ({"version": "0.0.9+12345678"}, {}):
        note.write_text(json.dumps({key: noted[key] for key in ("folder", "java")} | version))
        told = version.get("version", "(unnamed)")
        with pytest.raises(
            DataError, match=rf"state was written by rebalance-kit {re.escape(told)}, this is"
        ):
            Watch(spark, tmp_path / "logs", tmp_path / "state").__enter__()
    note.write_text("{}")
    with pytest.raises(DataError, match="is no note of a watch"):
        Watch(spark, tmp_path / "logs", tmp_path / "state").__enter__()


def test_the_notebook_s_table_follows_a_growing_file(spark, runs_folder, tmp_path):
    from rebalance_kit.view.reports.watch_page import watching

    growing = Growing([runs_folder / "crash-2x4.consumer.4.3.1"], tmp_path / "logs", random.Random(1))
    shown = watching(tmp_path / "logs", spark=spark)
    try:
        growing.finish()
        text = shown.wait_for(3)
    finally:
        shown.stop()
    assert "joined the group" in text
    assert "joined the group" in shown.value
    assert text.splitlines()[0].endswith(".") and "rebalances in" in text.splitlines()[0]


def test_a_cell_whose_reading_stopped_says_so(spark, tmp_path):
    from rebalance_kit.view.reports.watch_page import watching

    (tmp_path / "logs").mkdir()
    (tmp_path / "state").write_text("in the way")
    shown = watching(tmp_path / "logs", tmp_path / "state", spark=spark)
    with pytest.raises(DataError, match=r"the watch stopped: cannot write to .*state"):
        shown.wait_for(1)
    shown.stop()


def test_a_missing_folder_is_refused_before_spark_is_started(tmp_path, capsys):
    assert run_watch(tmp_path / "missing", WatchOptions(), io.StringIO()) == 2
    assert "missing; expected logs of Kafka" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_to_stop_and_a_second_one_insists(number):
    with stop_signals() as stop:
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert isinstance(stop, threading.Event)


def test_the_page_shows_what_the_text_says_and_is_replaced_whole(tmp_path):
    row = {
        "path": "logs",
        "group": "orders <b>",
        "number": 3,
        "protocol": "classic",
        "start_ms": 1_795_227_692_613,
        "end_ms": 1_795_227_698_750,
        "trigger": "join",
        "cause": "c2 joined the group",
        "culprit": "c2",
        "before": 2,
        "after": 3,
        "members": 3,
        "settled": True,
    }
    latest = Latest(3, 1234, 1, "2026-11-21T02:29:20.685Z", (row,))
    page = write_page(tmp_path / "page.html", latest, "Rebalances").read_text("utf-8")
    assert describe_watch(latest).splitlines() == [
        "1 rebalance in 1,234 lines of 3 files; settled before 2026-11-21T02:29:20.685Z.",
        "2026-11-21 02:21:32  orders <b>  3  2 -> 3  6.1 s  c2 joined the group  settled",
    ]
    assert "<td>orders &lt;b&gt;</td>" in page and "c2 joined the group" in page
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
