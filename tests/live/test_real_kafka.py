"""Against a real broker, which is fetched: ``make test-live`` runs these, and nothing else does."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_kit import live
from rebalance_kit.cli import main
from rebalance_kit.clients.mock_cluster import run_clients
from rebalance_kit.live.inspection.look import groups_of, look
from rebalance_kit.live.jars import LiveError
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.replay import replay

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.mark.parametrize("version", ["4.3.1", "4.0.0", "3.9.1"])
def test_a_broker_comes_up_goes_down_and_leaves_nothing(version):
    with live.Broker(version) as broker:
        assert broker.running
        broker.kill()
        assert not broker.running
        broker.start()
        assert broker.running
    assert not broker.processes.folder.exists()


def test_a_config_that_kafka_refuses_is_told_in_its_words():
    with (
        pytest.raises(LiveError, match=r"log\.retention\.bytes|Invalid value"),
        live.Broker(configs={"log.retention.bytes": "many"}),
    ):
        raise AssertionError("it came up")


@pytest.mark.parametrize(
    ("protocol", "client"), [("eager", "java"), ("cooperative", "librdkafka"), ("consumer", "mixed")]
)
def test_a_record_is_repeated_by_the_engine(protocol, client, tmp_path):
    folder = live.record("leave", tmp_path / "run", protocol, client=client)
    run = read_run(folder)
    assert not run.left_out
    assert {row["by"] for row in run.truth if row["kind"] == "assigned"} == {
        f"consumer-{i}" for i in (1, 2, 3)
    }
    assert replay(folder, 24).equal


def test_the_broker_of_the_command_line():
    out = io.StringIO()
    assert main(["broker", "start", "--json"], out) == 0
    running = json.loads(out.getvalue())
    assert main(["broker", "status"], io.StringIO()) == 0
    assert main(["broker", "start"], io.StringIO()) == 2
    assert main(["broker", "stop"], io.StringIO()) == 0
    assert main(["broker", "status"], io.StringIO()) == 1
    assert not Path(running["folder"]).exists()


def test_a_look_at_a_cluster_without_groups_and_after_one():
    with live.Broker() as broker:
        before = look(broker.bootstrap, seconds=0)
        assert groups_of(before) == []
        run_clients(strategy="consumer", seconds=8, bootstrap=broker.bootstrap)
        assert main(["inspect", "--bootstrap-server", broker.bootstrap, "--seconds", "1"], io.StringIO()) == 0


def test_a_record_that_is_killed_is_complete_up_to_there_and_nothing_runs_on(tmp_path):
    command = [
        sys.executable,
        "-m",
        "rebalance_kit",
        "record",
        "leave",
        "--protocol",
        "consumer",
        "--out",
        tmp_path / "run",
    ]
    recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in recorder.stderr:
        if "start consumer-2" in line:
            break
    recorder.kill()
    recorder.communicate(timeout=60)  # its end is that of everything it started: they share its error output
    run = read_run(tmp_path / "run")
    assert {row["kind"] for row in run.truth} >= {"admin", "start"}
    assert [step["do"] for step in run.steps].count("start") >= 2
    assert not run.left_out
