"""The same jobs on a cluster of several processes: a master and two workers, on the loopback address."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rebalance_kit import scenarios
from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.cluster import LocalCluster, write_kit_zip
from rebalance_kit.pipeline.sweep.grid import measured
from tests.support.paths import ROOT

pytestmark = pytest.mark.spark


@pytest.mark.long  # a minute of five Javas
def test_a_log_job_and_a_sweep_run_on_a_standalone_cluster_with_the_kit_shipped_to_it(
    tmp_path, runs_folder, spark, monkeypatch
):
    from rebalance_kit.pipeline.inquiry import forensics

    logs, told = runs_folder / "crash-2x4.eager.4.3.1", tmp_path / "told.json"
    kit = write_kit_zip(tmp_path / "kit.zip")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # short-lived Javas
    with LocalCluster(tmp_path) as cluster:
        script = ROOT / "tests" / "support" / "pipeline" / "cluster_job.py"
        job, log = cluster.submit("--py-files", kit, "--driver-memory", "1g", script, cluster.url, logs, told)
        assert job.wait(240) == 0, log.read_text()[-3000:]
        # Without --py-files the session sends the kit itself, when the first task of a worker wants it.
        asked = [
            "--scenario",
            "two-consumers-crash",
            "--seeds",
            "2",
            "--protocol",
            "eager",
            "--master",
            cluster.url,
        ]
        command = [Path(sys.executable).with_name("rebalance-kit"), "sweep", *asked]
        swept = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
        )
    assert swept.returncode == 0, swept.stderr[-3000:]
    assert "2 runs" in swept.stdout, swept.stdout
    found = json.loads(told.read_text())
    folders, kits = {folder for folder, _ in found["spots"]}, {path for _, path in found["spots"]}
    assert {Path(folder).relative_to(tmp_path).parts[0] for folder in folders} == {"worker1", "worker2"}
    assert all("kit.zip" in path for path in (*kits, found["driver"]))
    assert found["rebalances"] == sorted(repr(row) for row in forensics(spark, logs).rebalances.collect())
    assert found["rebalances"]
    crash = scenarios.load("two-consumers-crash")
    here = {
        (value, seed): measured(crash, "eager", seed, {"session.timeout.ms": value})["crash_detect_s"]
        for value in (6_000, 45_000)
        for seed in (1, 2, 3)
    }
    assert [tuple(row) for row in found["runs"]] == [(*key, seen, None) for key, seen in here.items()]


def test_the_zip_holds_the_package_and_is_the_same_each_time(tmp_path):
    one, two = write_kit_zip(tmp_path / "one.zip"), write_kit_zip(tmp_path / "two.zip")
    assert one.read_bytes() == two.read_bytes()
    names = zipfile.ZipFile(one).namelist()
    assert {
        "rebalance_kit/__init__.py",
        "rebalance_kit/simulation/simulate.py",
        "rebalance_kit/scenarios/crash.yaml",
    } <= set(names)
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.skipif(
    importlib.util.find_spec("grpc") is not None,
    reason="this PySpark has its Connect client: nothing to refuse",
)
@pytest.mark.may_skip("only one of two installations can be here")
def test_spark_connect_without_its_client_is_refused_with_what_to_install():
    from rebalance_kit.pipeline.spark.session import spark_session

    with pytest.raises(
        EnvironmentProblem, match=r"sc://127\.0\.0\.1:15002 .*pip install 'pyspark\[connect\]'"
    ):
        spark_session("sc://127.0.0.1:15002")


def test_a_block_that_fails_leaves_no_process_of_the_cluster_behind(tmp_path):
    processes = []

    def failing():
        with LocalCluster(tmp_path, workers=1) as cluster:
            processes.extend(cluster._processes)
            raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        failing()
    assert len(processes) == 2
    assert all(process.returncode is not None for process in processes)
